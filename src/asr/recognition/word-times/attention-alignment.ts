/**
 * Finds the position of each token in the audio: the rows of a few cross-attention heads that
 * follow the audio are normalized, median-filtered and summed, and dynamic time warping finds the
 * best monotonic path through them (the method of openai/whisper `timing.py`).
 *
 * `rows` holds one row per token, each `heads` × `frames` long. `medianFrames`, an odd number, is
 * the width of the median filter. Returns the first frame of each token; the numbers ascend.
 */
export function alignByAttention(
  rows: readonly Float32Array[],
  { heads, frames, medianFrames = 3 }: { heads: number; frames: number; medianFrames?: number },
): number[] {
  const score = new Float32Array(rows.length * frames)
  for (let head = 0; head < heads; head++) {
    addHead(score, rows, { from: head * frames, frames, medianFrames })
  }
  return findWarpingPath(score, rows.length, frames)
}

/**
 * Adds one head to the score: normalizes each frame over the tokens to z-scores, then takes the
 * running median along time.
 */
function addHead(
  score: Float32Array,
  rows: readonly Float32Array[],
  { from, frames, medianFrames }: { from: number; frames: number; medianFrames: number },
): void {
  const mean = new Float32Array(frames)
  const scale = new Float32Array(frames)
  for (const row of rows) for (let t = 0; t < frames; t++) mean[t]! += row[from + t]! / rows.length
  for (const row of rows) {
    for (let t = 0; t < frames; t++) scale[t]! += (row[from + t]! - mean[t]!) ** 2 / rows.length
  }
  for (let t = 0; t < frames; t++) scale[t] = 1 / (Math.sqrt(scale[t]!) + 1e-9)
  const values = new Float32Array(frames)
  const neighbors = new Float32Array(medianFrames)
  for (const [token, row] of rows.entries()) {
    for (let t = 0; t < frames; t++) values[t] = (row[from + t]! - mean[t]!) * scale[t]!
    for (let t = 0; t < frames; t++) score[token * frames + t]! += findMedian(values, t, neighbors)
  }
}

/**
 * Returns the median of as many values as `neighbors` has space for, with `at` in their middle. At
 * the edges the first or last value repeats.
 */
function findMedian(values: Float32Array, at: number, neighbors: Float32Array): number {
  const reach = (neighbors.length - 1) / 2
  for (let i = 0; i < neighbors.length; i++) {
    // Insertion sort: there are only a few numbers.
    const value = values[Math.max(0, Math.min(values.length - 1, at - reach + i))]!
    let place = i
    while (place > 0 && neighbors[place - 1]! > value) {
      neighbors[place] = neighbors[place - 1]!
      place--
    }
    neighbors[place] = value
  }
  return neighbors[reach]!
}

/**
 * Finds the path with the highest score from the first token and frame to the last ones, by dynamic
 * time warping: each step goes to the next frame, the next token, or both. Returns the first frame
 * of each token.
 */
function findWarpingPath(score: Float32Array, tokens: number, frames: number): number[] {
  const total = new Float32Array(tokens * frames)
  for (let token = 0; token < tokens; token++) {
    for (let t = 0; t < frames; t++) {
      const cell = token * frames + t
      const sameToken = t > 0 ? total[cell - 1]! : Number.NEGATIVE_INFINITY
      const sameFrame = token > 0 ? total[cell - frames]! : Number.NEGATIVE_INFINITY
      const both = t > 0 && token > 0 ? total[cell - frames - 1]! : Number.NEGATIVE_INFINITY
      const best = token === 0 && t === 0 ? 0 : Math.max(sameToken, sameFrame, both)
      total[cell] = best + score[cell]!
    }
  }
  const starts = new Array<number>(tokens).fill(0)
  let token = tokens - 1
  let t = frames - 1
  while (token > 0) {
    const cell = token * frames + t
    const sameToken = t > 0 ? total[cell - 1]! : Number.NEGATIVE_INFINITY
    const sameFrame = total[cell - frames]!
    const both = t > 0 ? total[cell - frames - 1]! : Number.NEGATIVE_INFINITY
    if (both >= sameToken && both >= sameFrame) {
      starts[token] = t
      token--
      t--
    } else if (sameToken >= sameFrame) {
      t--
    } else {
      starts[token] = t
      token--
    }
  }
  return starts
}

/** Returns the frame that gets the most attention, summed over all heads. */
export function mostAttendedFrame(row: Float32Array, heads: number, frames: number): number {
  let best = 0
  let max = 0
  for (let t = 0; t < frames; t++) {
    let sum = 0
    for (let head = 0; head < heads; head++) sum += row[head * frames + t]!
    if (sum > max) [best, max] = [t, sum]
  }
  return best
}
