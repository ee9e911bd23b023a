import { floats, floatsOf, type Tensor, type Tensors } from '../../onnx/onnx-runtime.ts'
import type { MoonshineDimensions } from './dimensions.ts'

/** Added to the scores of padding: its weight becomes exactly 0. */
const PADDING = -1e9
/**
 * Frames are padded to a multiple of this: the kernels then add up the same numbers in the same
 * order, whatever longer pieces a piece is decoded with.
 */
const ALIGNED_FRAMES = 64

/** A row of a batch: its frames and tokens, and its keys and values as inputs of the decoder. */
export type CachedRow = {
  decoding: { frames: number; tokens: readonly number[] }
  encoded: Tensors
  caches: Tensors
}

/** Returns the keys and values of one call as inputs of the next. */
export function asPast(outputs: Tensors): Tensors {
  const present = Object.entries(outputs).filter(([name]) => name.startsWith('present.'))
  return Object.fromEntries(
    present.map(([name, tensor]) => [name.replace('present.', 'past_key_values.'), tensor]),
  )
}

/** Returns the keys and values before the first token. */
export function emptyDecoderCaches({ layers, heads, headSize }: MoonshineDimensions): Tensors {
  const none = floats(new Float32Array(0), [1, heads, 0, headSize])
  return Object.fromEntries(cacheNames(layers, 'decoder').map((name) => [name, none]))
}

/** Returns the padded frames of a piece, a multiple of `ALIGNED_FRAMES`. */
export function paddedWidth(frames: number): number {
  return Math.ceil(frames / ALIGNED_FRAMES) * ALIGNED_FRAMES
}

/** Returns the attention mask of rows over their frames: 0 where there is audio. */
export function encoderMask(rows: readonly CachedRow[], width: number): Tensor {
  const mask = new Float32Array(rows.length * width)
  for (const [i, { decoding }] of rows.entries()) {
    mask.fill(PADDING, i * width + decoding.frames, (i + 1) * width)
  }
  return floats(mask, [rows.length, 1, 1, width])
}

/** Stacks the keys and values of the audio of rows, and their mask. */
export function stackEncoderCaches(
  rows: readonly CachedRow[],
  { layers, heads, headSize }: MoonshineDimensions,
  width: number,
): Tensors {
  const stacked: Tensors = { encoder_mask: encoderMask(rows, width) }
  for (const name of cacheNames(layers, 'encoder')) {
    const data = new Float32Array(rows.length * heads * width * headSize)
    for (const [i, { encoded, decoding }] of rows.entries()) {
      const own = floatsOf(encoded[name])
      const length = paddedWidth(decoding.frames) * headSize
      for (let head = 0; head < heads; head++) {
        data.set(
          own.subarray(head * length, (head + 1) * length),
          (i * heads + head) * width * headSize,
        )
      }
    }
    stacked[name] = floats(data, [rows.length, heads, width, headSize])
  }
  return stacked
}

/**
 * Stacks the keys and values of what every row has read: nothing yet, or for a single row the start
 * token and its draft as far as it was right.
 */
export function stackDecoderCaches(
  rows: readonly CachedRow[],
  { layers, heads, headSize }: MoonshineDimensions,
): Tensors {
  const stacked: Tensors = {}
  const length = rows[0]!.decoding.tokens.length * headSize
  for (const name of cacheNames(layers, 'decoder')) {
    const data = new Float32Array(rows.length * heads * length)
    for (const [i, { caches }] of rows.entries()) {
      const own = floatsOf(caches[name])
      const ownLength = own.length / heads
      for (let head = 0; head < heads; head++) {
        const kept = own.subarray(head * ownLength, head * ownLength + length)
        data.set(kept, (i * heads + head) * length)
      }
    }
    stacked[name] = floats(data, [rows.length, heads, length / headSize, headSize])
  }
  return stacked
}

function cacheNames(layers: number, side: 'encoder' | 'decoder'): string[] {
  return Array.from({ length: layers }, (_, layer) => [
    `past_key_values.${layer}.${side}.key`,
    `past_key_values.${layer}.${side}.value`,
  ]).flat()
}
