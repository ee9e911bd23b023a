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
 * Creates a detector that follows the time stamps of a track. If audio is missing (damage, pauses
 * of the recorder), it returns how much, so that later audio keeps its time. A clock that jumps
 * back, or beyond the `duration` of the recording in seconds, was reset: the audio continues
 * without a gap.
 */
export function createGapDetector(duration: number): GapDetector {
  let first: number | undefined
  let expected = 0

  return (start = expected, length) => {
    if (first === undefined) {
      first = start
      expected = start
    }
    const missing = start - expected
    if (missing > MIN_GAP_SECONDS && start + length - first <= duration + 1) {
      expected = start + length
      return missing
    }
    if (Math.abs(missing) > MIN_GAP_SECONDS) {
      first += missing
      expected = start
    }
    expected += length
    return 0
  }
}
