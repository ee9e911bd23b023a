/**
 * Finds the position of each token in the audio: the rows of a few cross-attention heads that
 * follow the audio are normalized, smoothed and summed, and dynamic time warping finds the best
 * monotonic path through them (the method of openai/whisper `timing.py`).
 *
 * `rows` holds one row per token, each `heads` × `frames` long; `smoothed` frames, an odd number,
 * make one median. Returns the first frame of each token; the numbers ascend.
 */
export function alignByAttention(
  rows: readonly Float32Array[],
  { heads, frames, smoothed = 3 }: { heads: number; frames: number; smoothed?: number },
): number[] {
  const score = new Float32Array(rows.length * frames)
  for (let head = 0; head < heads; head++) {
    addHead(score, rows, { from: head * frames, frames, smoothed })
  }
  return warp(score, rows.length, frames)
}

/** Adds one head: z-scores of each frame over the tokens, median along time. */
function addHead(
  score: Float32Array,
  rows: readonly Float32Array[],
  { from, frames, smoothed }: { from: number; frames: number; smoothed: number },
): void {
  const mean = new Float32Array(frames)
  const scale = new Float32Array(frames)
  for (const row of rows) for (let t = 0; t < frames; t++) mean[t]! += row[from + t]! / rows.length
  for (const row of rows) {
    for (let t = 0; t < frames; t++) scale[t]! += (row[from + t]! - mean[t]!) ** 2 / rows.length
  }
  for (let t = 0; t < frames; t++) scale[t] = 1 / (Math.sqrt(scale[t]!) + 1e-9)
  const values = new Float32Array(frames)
  const around = new Float32Array(smoothed)
  for (const [token, row] of rows.entries()) {
    for (let t = 0; t < frames; t++) values[t] = (row[from + t]! - mean[t]!) * scale[t]!
    for (let t = 0; t < frames; t++)
      score[token * frames + t]! += findMedianAround(values, t, around)
  }
}

/**
 * The median of a value and those beside it, as many as `around` has space for; at the edges the
 * last one repeats.
 */
function findMedianAround(values: Float32Array, at: number, around: Float32Array): number {
  const reach = (around.length - 1) / 2
  for (let i = 0; i < around.length; i++) {
    // Inserted in order: a handful of numbers.
    const value = values[Math.max(0, Math.min(values.length - 1, at - reach + i))]!
    let place = i
    while (place > 0 && around[place - 1]! > value) {
      around[place] = around[place - 1]!
      place--
    }
    around[place] = value
  }
  return around[reach]!
}

/**
 * Finds the best path from the first token and frame to the last ones; moves: next frame, next
 * token, both.
 */
function warp(score: Float32Array, tokens: number, frames: number): number[] {
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
