import type { AvailableRecognizers } from '../routing/routing.ts'
import { describeMoonshine } from './moonshine/capabilities.ts'

/** The recognizers that every installation has; the worker processes load them. */
export const embeddedRecognizers: AvailableRecognizers = {
  finals: [describeMoonshine('base')],
  partials: [describeMoonshine('tiny')],
}
