import { AppError } from '../errors.ts'

/** Live sessions take eight channels too; files with more are ambisonics or damage, not speech. */
export const MAX_CHANNELS = 8
/** Below is no speech; the highest rate that recorders write is 768 kHz. */
const [MIN_RATE, MAX_RATE] = [1000, 768_000]
/** A film has a dozen tracks, with its fonts some fifty. */
export const MAX_TRACKS = 100

/** Refuses what no recording has: such headers are damage, or made to exhaust the decoder. */
export function checkSoundFormat({
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
 * Refuses a header that declares more than a second for every byte of the file: no codec is that
 * dense, even where it leaves silence out; a damaged or hostile header is.
 */
export function checkDeclaredDuration(seconds: number, bytes: number): void {
  if (seconds <= Math.max(bytes, 1)) return
  throw new AppError('media_unsupported', `${Math.round(seconds)} s declared in ${bytes} bytes`)
}
