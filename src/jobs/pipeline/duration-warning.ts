import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'

/** Encoders pad the end, and headers round: less than a second, or 1% of a long recording. */
const TOLERANCE = { seconds: 1, share: 0.01 }

/**
 * Warns of a recording whose audio ends before the file states, as when its copy was interrupted,
 * or that continues after it, as when two files were joined byte by byte.
 */
export function warnOfDuration(media: DecodedMedia): string[] {
  const { duration, statedSeconds = 0, unreadSeconds = 0 } = media
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * statedSeconds)
  const [found, stated] = [duration.toFixed(1), statedSeconds.toFixed(1)]
  if (statedSeconds - duration > tolerance) {
    return [`The audio ends after ${found} of the ${stated} s that the file states. Is it cut off?`]
  }
  if (unreadSeconds <= TOLERANCE.seconds) return []
  const beyond = `goes on for ${unreadSeconds.toFixed(1)} s after the ${stated} s of audio that it states`
  return [`The file ${beyond}. They were not read: was another file appended?`]
}
