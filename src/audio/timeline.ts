/** Less is jitter of coarse time stamps; more is sound that is missing. ffmpeg draws the same line. */
const GAP = 0.1

/** Seconds of silence that belong before a frame of `length` seconds stamped `start`. */
export type MissingBefore = (start: number | undefined, length: number) => number

/**
 * Follows the time stamps of a track. Where sound is missing (damage, pauses of the recorder) it tells
 * how much, so that what follows keeps its time. A clock that jumps back, or beyond the `duration` of the
 * recording, was set anew: the sound goes on as if it had not.
 */
export function createTimeline(duration: number): MissingBefore {
  let first: number | undefined
  let due = 0

  return (start = due, length) => {
    if (first === undefined) {
      first = start
      due = start
    }
    const missing = start - due
    if (missing > GAP && start + length - first <= duration + 1) {
      due = start + length
      return missing
    }
    if (Math.abs(missing) > GAP) {
      first += missing
      due = start
    }
    due += length
    return 0
  }
}
