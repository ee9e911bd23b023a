/**
 * Finds the position of each token in the audio: the rows of a few cross-attention heads that
 * follow the audio are normalized, smoothed and summed, and dynamic time warping finds the best
 * monotonic path through them (the method of openai/whisper `timing.py`).
 *
 * `rows` holds one row per token, each `heads` × `frames` long. Returns the first frame of each
 * token; the numbers ascend.
 */
export function alignTokens(
  rows: readonly Float32Array[],
  heads: number,
  frames: number,
): number[] {
  const score = new Float32Array(rows.length * frames)
  for (let head = 0; head < heads; head++) addHead(score, rows, head * frames, frames)
  return warp(score, rows.length, frames)
}

/** Adds one head: z-scores of each frame over the tokens, median of three along time. */
function addHead(
  score: Float32Array,
  rows: readonly Float32Array[],
  from: number,
  frames: number,
): void {
  const mean = new Float32Array(frames)
  const scale = new Float32Array(frames)
  for (const row of rows) for (let t = 0; t < frames; t++) mean[t]! += row[from + t]! / rows.length
  for (const row of rows) {
    for (let t = 0; t < frames; t++) scale[t]! += (row[from + t]! - mean[t]!) ** 2 / rows.length
  }
  for (let t = 0; t < frames; t++) scale[t] = 1 / (Math.sqrt(scale[t]!) + 1e-9)
  for (const [token, row] of rows.entries()) {
    let before = 0
    let here = (row[from]! - mean[0]!) * scale[0]!
    before = here
    for (let t = 0; t < frames; t++) {
      const next = t + 1 < frames ? (row[from + t + 1]! - mean[t + 1]!) * scale[t + 1]! : here
      score[token * frames + t]! += median(before, here, next)
      before = here
      here = next
    }
  }
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}

/**
 * Finds the best path from the first token and frame to the last ones; moves: next frame, next
 * token, both.
 */
function warp(score: Float32Array, tokens: number, frames: number): number[] {
  const total = new Float32Array(tokens * frames)
  for (let token = 0; token < tokens; token++) {
    for (let t = 0; t < frames; t++) {
      const here = token * frames + t
      const sameToken = t > 0 ? total[here - 1]! : Number.NEGATIVE_INFINITY
      const sameFrame = token > 0 ? total[here - frames]! : Number.NEGATIVE_INFINITY
      const both = t > 0 && token > 0 ? total[here - frames - 1]! : Number.NEGATIVE_INFINITY
      const best = token === 0 && t === 0 ? 0 : Math.max(sameToken, sameFrame, both)
      total[here] = best + score[here]!
    }
  }
  const starts = new Array<number>(tokens).fill(0)
  let token = tokens - 1
  let t = frames - 1
  while (token > 0) {
    const here = token * frames + t
    const sameToken = t > 0 ? total[here - 1]! : Number.NEGATIVE_INFINITY
    const sameFrame = total[here - frames]!
    const both = t > 0 ? total[here - frames - 1]! : Number.NEGATIVE_INFINITY
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
