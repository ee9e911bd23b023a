import { floats, floatsOf, type Tensor, type Tensors } from '../../../onnx/onnx-runtime.ts'

/** Added to the scores of padding: its weight becomes exactly 0. */
const PADDING = -1e9
/**
 * Frames are padded to a multiple of this: the kernels then add up the numbers of a segment in the
 * same order, however long the other segments of its batch are.
 */
const ALIGNED_FRAMES = 64

/** Returns the keys and values that a call wrote as inputs of the next. */
export function toPastInputs(outputs: Tensors): Tensors {
  const present = Object.entries(outputs).filter(([name]) => name.startsWith('present.'))
  return Object.fromEntries(
    present.map(([name, tensor]) => [name.replace('present.', 'past_key_values.'), tensor]),
  )
}

/** Returns the padded frames of a segment, a multiple of `ALIGNED_FRAMES`. */
export function paddedWidth(frames: number): number {
  return Math.ceil(frames / ALIGNED_FRAMES) * ALIGNED_FRAMES
}

/**
 * Returns the attention mask [rows, 1, 1, width]; it is 0 in the first `frames[i]` frames of row i,
 * which hold audio.
 */
export function encoderMask(frames: readonly number[], width: number): Tensor {
  const mask = new Float32Array(frames.length * width)
  for (const [i, length] of frames.entries())
    mask.fill(PADDING, i * width + length, (i + 1) * width)
  return floats(mask, [frames.length, 1, 1, width])
}

/** Returns row `row` of every tensor as a batch of one, not copied. */
export function rowOf(tensors: Tensors, row: number): Tensors {
  return mapTensors(tensors, (data, [rows = 1, ...rest]) => {
    const size = data.length / rows
    return floats(data.subarray(row * size, (row + 1) * size), [1, ...rest])
  })
}

/** Keeps some rows of every tensor, in place; `rows` ascends. */
export function selectRows(tensors: Tensors, rows: readonly number[]): Tensors {
  return mapTensors(tensors, (data, [all = 1, ...rest]) => {
    const size = data.length / all
    for (const [to, from] of rows.entries()) {
      data.copyWithin(to * size, from * size, (from + 1) * size)
    }
    return floats(data.subarray(0, rows.length * size), [rows.length, ...rest])
  })
}

/** Keeps the keys and values of the first `tokens` tokens, in place. */
export function truncateCache(caches: Tensors, tokens: number): Tensors {
  return mapTensors(caches, (data, [rows = 1, heads = 1, all = 0, size = 0]) => {
    const [from, to] = [all * size, tokens * size]
    for (let head = 1; head < rows * heads; head++) {
      data.copyWithin(head * to, head * from, head * from + to)
    }
    return floats(data.subarray(0, rows * heads * to), [rows, heads, tokens, size])
  })
}

function mapTensors(
  tensors: Tensors,
  map: (data: Float32Array, dims: readonly number[]) => Tensor,
): Tensors {
  const mapped = Object.entries(tensors).map(([name, tensor]) => {
    return [name, map(floatsOf(tensor), tensor.dims)] as const
  })
  return Object.fromEntries(mapped)
}
