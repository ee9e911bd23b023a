import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'

/**
 * A smaller difference is no sign of damage: encoders pad the end, and headers round. `share` is a
 * fraction of the declared duration.
 */
const TOLERANCE = { seconds: 1, share: 0.01 }

/** Returns warnings about audio that a file seems to hold and that is not in the result. */
export function decodingWarnings(media: DecodedMedia): string[] {
  return [...durationWarnings(media), ...trackWarnings(media)]
}

/**
 * Warns if the audio ends before the duration that the file declares, for example because its copy
 * was interrupted, or continues after it, for example because two files were joined byte by byte.
 */
function durationWarnings(media: DecodedMedia): string[] {
  const {
    duration,
    statedSeconds: declaredSeconds = 0,
    unreadSeconds: secondsAfterDeclaredEnd = 0,
  } = media
  const tolerance = Math.max(TOLERANCE.seconds, TOLERANCE.share * declaredSeconds)
  const [decoded, declared] = [duration.toFixed(1), declaredSeconds.toFixed(1)]
  if (declaredSeconds - duration > tolerance) {
    return [
      `The audio ends after ${decoded} of the ${declared} s that the file states. Is it cut off?`,
    ]
  }
  if (secondsAfterDeclaredEnd <= TOLERANCE.seconds) return []
  const beyond = `goes on for ${secondsAfterDeclaredEnd.toFixed(1)} s after the ${declared} s of audio that it states`
  return [`The file ${beyond}. They were not read: was another file appended?`]
}

function trackWarnings({ unreadTracks = 0 }: DecodedMedia): string[] {
  if (unreadTracks === 0) return []
  const [tracks, each] = unreadTracks === 1 ? ['track', 'it'] : ['tracks', 'each']
  const them = unreadTracks === 1 ? 'it' : 'them'
  return [
    `The file has ${unreadTracks} more audio ${tracks} that Steno did not read. To transcribe ${them}, extract ${each} into a file.`,
  ]
}
