import type { ByteFile } from './byte-file.ts'
import { asFields, isCount } from './fields.ts'
import { fromBfloat16, fromFloat16 } from './half-floats.ts'
import { WeightFileError } from './weight-file-error.ts'

/** An array of a file: its sizes, the type of its numbers, and the byte where it begins. */
export type ArrayEntry = { file: ByteFile; sizes: number[]; type: string; from: number }

/** Rows of an array, the first dimension; the end is exclusive. */
export type Rows = readonly [from: number, to: number]

/** The reference implementation has the same limit. */
const MAX_HEADER_BYTES = 100_000_000
const LENGTH_BYTES = 8
const elementBytes: Record<string, number> = { F32: 4, F16: 2, BF16: 2 }

/**
 * Returns the arrays of a file by their names. The format is that of
 * https://github.com/huggingface/safetensors: the length of a JSON header, the header with type,
 * shape and place of each array, the arrays. Throws `WeightFileError` when the file is damaged.
 */
export function readHeader(file: ByteFile): [string, ArrayEntry][] {
  const length = Number(new DataView(file.read(0, LENGTH_BYTES).buffer).getBigUint64(0, true))
  if (length > MAX_HEADER_BYTES) throw new WeightFileError(`${file.path} is not a safetensors file`)
  const text = Buffer.from(file.read(LENGTH_BYTES, length)).toString()
  const start = LENGTH_BYTES + length
  let header: Record<string, unknown>
  try {
    header = asFields(JSON.parse(text))
  } catch (cause) {
    throw new WeightFileError(`${file.path} is not a safetensors file`, { cause })
  }
  return Object.entries(header).flatMap(([name, place]): [string, ArrayEntry][] => {
    if (name === '__metadata__') return []
    const { dtype: type, shape: sizes, data_offsets: offsets } = asFields(place)
    if (typeof type !== 'string' || !areCounts(sizes) || !areCounts(offsets)) {
      throw new WeightFileError(`${file.path} is damaged at ${name}`)
    }
    const [from = 0, to = 0] = offsets.map((offset) => start + offset)
    if (to > file.size) {
      throw new WeightFileError(`${file.path} is truncated: it ends before ${name}`)
    }
    const bytes = sizes.reduce((product, n) => product * n, elementBytes[type] ?? 0)
    if (bytes > 0 && to - from !== bytes) {
      throw new WeightFileError(`${file.path} is damaged at ${name}`)
    }
    return [[name, { file, sizes, type, from }]]
  })
}

function areCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isCount)
}

/** Returns the floats of an array, or of some of its rows. */
export function readFloats(entry: ArrayEntry, rows?: Rows): Float32Array {
  const { file, sizes, type, from } = entry
  const size = elementBytes[type]
  if (!size) throw new WeightFileError(`${file.path} holds ${type}; F32, F16 and BF16 are read`)
  const row = size * sizes.slice(1).reduce((product, n) => product * n, 1)
  const [first, end] = rows ?? [0, sizes[0] ?? 1]
  if (end > (sizes[0] ?? 1)) throw new WeightFileError(`${file.path} has too few rows`)
  const { buffer } = file.read(from + first * row, (end - first) * row)
  if (type === 'F32') return new Float32Array(buffer)
  const bits = new Uint16Array(buffer)
  return type === 'F16' ? fromFloat16(bits) : fromBfloat16(bits)
}
