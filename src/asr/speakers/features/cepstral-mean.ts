/** Frames of the window: 3 s, as in the training of the telephone model. */
const WINDOW = 300

/**
 * Subtracts from each number of a frame its mean over the 300 frames around it, or over all when
 * there are fewer; near an end the window is shifted, not cut (Kaldi, SlidingWindowCmn with
 * `center`). In place.
 */
export function subtractCepstralMean(frames: Float32Array, dimension: number): void {
  const count = frames.length / dimension
  const window = Math.min(WINDOW, count)
  const original = frames.slice()
  for (let d = 0; d < dimension; d++) {
    let sum = 0
    for (let t = 0; t < window; t++) sum += original[t * dimension + d]!
    let start = 0
    for (let t = 0; t < count; t++) {
      const windowStart = Math.min(Math.max(0, t - WINDOW / 2), count - window)
      for (; start < windowStart; start++) {
        sum += original[(start + window) * dimension + d]! - original[start * dimension + d]!
      }
      frames[t * dimension + d]! -= sum / window
    }
  }
}
