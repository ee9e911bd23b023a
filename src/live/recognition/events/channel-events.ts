import type { UtteranceView } from '../../../transcript/utterance-view.ts'

/** The events of a channel, in the order in which it emits them. */
export type ChannelEvent =
  | { type: 'speech_start'; time: number; channel: number }
  | { type: 'speech_end'; time: number; channel: number }
  | { type: 'partial'; channel: number; number: number; view: UtteranceView; begunAt?: number }
  | RecognizedFinal

/**
 * A final. `error` means that the utterance could not be recognized; `endedAt` is when its end was
 * detected, on the clock of `performance.now()`.
 */
export type RecognizedFinal = {
  type: 'final'
  channel: number
  number: number
  view: UtteranceView
  error?: unknown
  endedAt?: number | undefined
}
