/**
 * A shorter gap is jitter of coarse time stamps; a longer one is missing audio. ffmpeg uses the
 * same limit.
 */
const MIN_GAP_SECONDS = 0.1

/**
 * Returns the seconds of silence to insert before a frame that lasts `length` seconds and has the
 * time stamp `start`.
 */
export type GapDetector = (start: number | undefined, length: number) => number

/**
 * Follows the time stamps of a track. Where audio is missing (damage, pauses of the recorder) it
 * returns how much, so that later audio keeps its time. A clock that jumps back, or beyond the
 * `duration` of the recording, was reset: the audio continues as if it had not been.
 */
export function createGapDetector(duration: number): GapDetector {
  let first: number | undefined
  let due = 0

  return (start = due, length) => {
    if (first === undefined) {
      first = start
      due = start
    }
    const missing = start - due
    if (missing > MIN_GAP_SECONDS && start + length - first <= duration + 1) {
      due = start + length
      return missing
    }
    if (Math.abs(missing) > MIN_GAP_SECONDS) {
      first += missing
      due = start
    }
    due += length
    return 0
  }
}
