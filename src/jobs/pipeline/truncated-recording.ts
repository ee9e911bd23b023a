import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'

/** Encoders pad the end, and headers round: less than a second, or 1% of a long recording. */
const TOLERANCE = { seconds: 1, share: 0.01 }

/** Warns of a recording whose audio ends before the file says, as when its copy was interrupted. */
export function warnOfTruncation({ duration, statedSeconds = 0 }: DecodedMedia): string[] {
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * statedSeconds)
  if (statedSeconds - duration <= tolerance) return []
  const [found, stated] = [duration.toFixed(1), statedSeconds.toFixed(1)]
  return [`The audio ends after ${found} of the ${stated} s that the file states. Is it cut off?`]
}
