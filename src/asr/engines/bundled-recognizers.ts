import type { AvailableRecognizers } from '../model-selection/select-models.ts'
import { describeMoonshine } from './moonshine/capabilities.ts'

/** The recognizers that every installation has; the worker processes load them. */
export const bundledRecognizers: AvailableRecognizers = {
  finals: [describeMoonshine('base')],
  partials: [describeMoonshine('tiny')],
}
