import type { LiveEngine } from '../../asr/live-engine/live-engine.ts'
import type { SessionSpeakers } from '../../asr/live-engine/session-speakers.ts'
import type { ModelSelection } from '../../asr/model-selection/select-models.ts'
import type { Log } from '../../observability/log.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import type { createEndpointer } from './endpointing/endpointer.ts'
import type { ChannelEvent } from './events/channel-events.ts'
import type { FinalOrder } from './events/final-order.ts'
import type { SessionLanguage } from './session-language.ts'

/** Options of the recognition of a channel. */
export type ChannelOptions = {
  channel: number
  /** The file with its samples. */
  path: string
  engine: LiveEngine
  selection: ModelSelection
  endpointer: ReturnType<typeof createEndpointer>
  language: SessionLanguage
  /** Applies the user's text settings, such as custom spelling, to words. */
  applyTransforms: SessionText['applyTransforms']
  order: FinalOrder
  /** Labels speakers, if requested; then `order` must be shared by all channels. */
  speakers?: SessionSpeakers | undefined
  /** Finals name their model. */
  namesModels?: boolean | undefined
  partialIntervalMs: number
  emit(event: ChannelEvent): void
  /** Called with a warning for the user. */
  warn(text: string): void
  /** Called with the seconds that a recognition took. */
  onWork(seconds: number): void
  log: Log
  signal: AbortSignal
}
