import { stat } from 'node:fs/promises'
import type { RecordingLimits } from '../client/client.ts'
import { sanitize } from '../terminal/sanitize.ts'

/** Smaller files are uploaded without requesting the limits of the server. */
const LARGE_BYTES = 50_000_000
/** The minimum bytes per second of any audio: a smaller file cannot be too long. */
const MIN_BYTES_PER_SECOND = 500

/**
 * Throws an error if the server would refuse a file after its upload, for its size or, if it can be
 * read here, for its length.
 */
export async function checkLimits(
  path: string,
  {
    getLimits,
    signal,
    large = LARGE_BYTES,
  }: { getLimits: () => Promise<RecordingLimits | undefined>; signal: AbortSignal; large?: number },
): Promise<void> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  )
  if (size < large) return
  const limits = await getLimits()
  if (!limits) return
  const { max_file_bytes: maxBytes, max_audio_seconds: maxSeconds } = limits
  if (size > maxBytes) {
    const limit = `the server accepts ${maxBytes} (STENO_MAX_FILE_BYTES)`
    throw new Error(`Cannot upload ${sanitize(path)}: it has ${size} bytes, ${limit}`)
  }
  if (size < maxSeconds * MIN_BYTES_PER_SECOND) return
  // Loaded on demand: few files are so large.
  const { probeMedia } = await import('../../audio/probe-media.ts')
  // A file that cannot be read here may be readable for the server.
  const media = await probeMedia(path, { maxSeconds, signal }).catch(() => undefined)
  signal.throwIfAborted()
  if (media && media.duration > maxSeconds) {
    const limit = `the server accepts ${maxSeconds} s (STENO_MAX_AUDIO_S)`
    const length = `${Math.ceil(media.duration)} s long`
    throw new Error(`Cannot upload ${sanitize(path)}: it is ${length}, ${limit}`)
  }
}
