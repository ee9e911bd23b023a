import type { PlainError } from '../../errors.ts'
import type { DecodedChannel } from '../channels/channel-files.ts'

/**
 * A request for the properties of a file. A decoder process serves one request, or many short ones.
 */
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
/** A request to decode a file into `folder`. */
export type DecodeRequest = {
  task: 'decode'
  file: string
  nameHint: string | undefined
  folder: string
  maxSeconds: number
}

/**
 * A request for the properties of a file, and for its samples if it is shorter than `maxDecoded`
 * seconds. A decoder that cannot open the file gets its content, `sentBytes` bytes, through a pipe,
 * and stores it as `file`.
 */
export type ShortRequest = Omit<ProbeRequest, 'task'> & {
  task: 'short'
  maxDecoded: number
  sentBytes?: number | undefined
}
/** Any request to a decoder process. */
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
 * notice that the server has exited, and to free memory of libav), and shows the server that work
 * continues.
 */
export type Heartbeat = () => Promise<void>

/** A short recording. `decoded` is undefined when it is too long, or cannot be decoded. */
export type ShortMedia = { info: MediaInfo; decoded?: DecodedSamples | undefined }

/** The channels of a recording; `pcm` is 16-bit little-endian samples at 16 kHz, as base64. */
export type DecodedSamples = {
  samples: number
  declaredSeconds: number
  unreadSeconds: number
  unreadTracks: number
  channels: { pcm: string; sameAs: number | null }[]
}

/**
 * A decoded recording; `duration` is in seconds. `statedSeconds` is the duration that the file
 * declares (checkpoints store this name), which is longer if its end is missing. `unreadSeconds`
 * follow the declared end. `unreadTracks` is the number of audio tracks that were not decoded.
 */
export type DecodedMedia = {
  duration: number
  statedSeconds?: number
  unreadSeconds?: number
  unreadTracks?: number
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
