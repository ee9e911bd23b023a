import type { PlainError } from '../../errors.ts'
import type { DecodedChannel } from '../channels/channel-files.ts'

/** A request of the server to a decoder process, which serves one request, or many short ones. */
export type ProbeRequest = {
  task: 'probe'
  file: string
  nameHint: string | undefined
  /**
   * Seconds after which counting the length of a stream stops; undefined = at the end of the
   * stream.
   */
  maxSeconds?: number | undefined
}
export type DecodeRequest = {
  task: 'decode'
  file: string
  nameHint: string | undefined
  folder: string
  maxSeconds: number
}

/**
 * To describe a file, and to decode it as well if it is shorter than `maxDecoded` seconds. A
 * decoder that sees no files gets the content through a pipe, so many bytes, and stores it as
 * `file`.
 */
export type ShortRequest = Omit<ProbeRequest, 'task'> & {
  task: 'short'
  maxDecoded: number
  sentBytes?: number | undefined
}
export type DecoderRequest = ProbeRequest | DecodeRequest | ShortRequest

/** The result of a request. */
export type DecoderResult<Request> = Request extends ProbeRequest ? MediaInfo : DecodedMedia

/**
 * Messages of a decoder process: any number of `progress`, which also prove that it is alive, then
 * one final message.
 */
export type DecoderMessage =
  | { type: 'progress'; fraction: number }
  | { type: 'done'; result: MediaInfo | DecodedMedia | ShortMedia }
  | { type: 'failed'; error: PlainError }

/**
 * Called every few milliseconds by long work in the decoder process: lets the event loop run (to
 * notice that the server is gone, to free libav's memory) and shows the server that work continues.
 */
export type Heartbeat = () => Promise<void>

/** A short recording. `decoded` is undefined when it is too long, or cannot be decoded. */
export type ShortMedia = { info: MediaInfo; decoded?: DecodedSamples | undefined }

/** The channels of a recording; `pcm` is 16-bit little-endian samples at 16 kHz, as base64. */
export type DecodedSamples = {
  samples: number
  statedSeconds: number
  unreadSeconds: number
  channels: { pcm: string; sameAs: number | null }[]
}

/**
 * A decoded recording; `duration` is seconds. `statedSeconds` is what the file says: more, if its
 * end is missing. `unreadSeconds` follow after those.
 */
export type DecodedMedia = {
  duration: number
  statedSeconds?: number
  unreadSeconds?: number
  channels: DecodedChannel[]
}

/**
 * The properties of a recording. `extension` is the detected container in lower case; `duration` is
 * seconds.
 */
export type MediaInfo = {
  extension: string
  duration: number
  channels: number
  sampleRate: number
  codec: string
}
