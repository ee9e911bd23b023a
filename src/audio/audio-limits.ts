import { AppError } from '../errors.ts'

/**
 * Maximum channels of a recording: video recorders store the 16 channels of an SDI cable. A file
 * with more contains ambisonics or is damaged.
 */
export const MAX_CHANNELS = 16
/**
 * Limits of the sample rate in Hz: a lower rate cannot contain speech, and the highest rate that
 * recorders write is 768 kHz.
 */
const [MIN_RATE, MAX_RATE] = [1000, 768_000]
/** Maximum tracks of a file: a film with subtitles in many languages has dozens. */
export const MAX_TRACKS = 100

/** Maximum packets per second of audio: the shortest frames, those of Opus, last 2.5 ms. */
const MAX_PACKETS_PER_SECOND = 1000
/** Files with fewer packets are not checked, because they are read in less than a second. */
const UNCHECKED_PACKETS = 100_000

/**
 * Throws `media_unsupported` for formats that no recording has: such a header is damaged, or
 * crafted to exhaust the decoder.
 */
export function checkAudioFormat({
  channels,
  sampleRate,
}: {
  channels: number
  sampleRate: number
}): void {
  if (!(channels >= 1 && channels <= MAX_CHANNELS)) {
    throw new AppError(
      'media_unsupported',
      `${channels} channels; 1 to ${MAX_CHANNELS} are supported`,
    )
  }
  if (!(sampleRate >= MIN_RATE && sampleRate <= MAX_RATE)) {
    const supported = `${MIN_RATE} to ${MAX_RATE} are supported`
    throw new AppError('media_unsupported', `a sample rate of ${sampleRate} Hz; ${supported}`)
  }
}

/**
 * Throws `media_unsupported` for a header that declares more than one second per byte of the file.
 * No codec is that dense, even one that omits silence: such a header is damaged or hostile.
 */
export function checkDeclaredDuration(seconds: number, bytes: number): void {
  if (seconds <= Math.max(bytes, 1)) return
  throw new AppError('media_unsupported', `${Math.round(seconds)} s declared in ${bytes} bytes`)
}

/** Throws `media_too_long` for audio that is longer than the limit. */
export function checkLength(seconds: number, maxSeconds: number): void {
  if (seconds <= maxSeconds) return
  const limit = `the limit is ${maxSeconds} s (STENO_MAX_AUDIO_S)`
  throw new AppError('media_too_long', `${Math.ceil(seconds)} s; ${limit}`)
}

/**
 * Throws `media_unsupported` for a stream whose packets contain almost no audio: counting millions
 * of them takes minutes.
 */
export function checkPacketRate(packets: number, seconds: number): void {
  if (packets <= UNCHECKED_PACKETS || packets <= seconds * MAX_PACKETS_PER_SECOND) return
  const detail = `${packets} packets for ${Math.round(seconds)} s of audio`
  throw new AppError('media_unsupported', detail)
}
