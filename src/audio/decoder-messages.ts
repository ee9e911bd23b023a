import type { PlainError } from '../errors.ts'
import type { DecodedMedia, MediaInfo } from './media.ts'

/** What the server asks of a decoder process: one request each. */
export type ProbeRequest = {
  task: 'probe'
  file: string
  nameHint: string | undefined
  /** A stream that has to be counted is counted no further; undefined = to its end. */
  maxSeconds?: number | undefined
}
export type DecodeRequest = {
  task: 'decode'
  file: string
  nameHint: string | undefined
  folder: string
  maxSeconds: number
}

/** What a request is answered with. */
export type DecoderResult<Request> = Request extends ProbeRequest ? MediaInfo : DecodedMedia

/** What a decoder process says: any number of `progress`, which also proves that it lives, then one end. */
export type DecoderMessage =
  | { type: 'progress'; fraction: number }
  | { type: 'done'; result: MediaInfo | DecodedMedia }
  | { type: 'failed'; error: PlainError }

/**
 * Called every few milliseconds by whatever works long in the decoder process: lets the loop turn (to
 * hear that the server is gone, to free libav's memory) and shows the server that work goes on.
 */
export type Heartbeat = () => Promise<void>
