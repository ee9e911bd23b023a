/**
 * The named arrays of a model file, read on demand: a file of gigabytes is never in memory as a
 * whole. Names and layout are those of CTranslate2 (`encoder/layer_0/ffn/linear_0/weight`),
 * whatever the format of the file: weights of products are [outputs, inputs], queries, keys and
 * values are one product.
 */
export type WeightFile = {
  /** The sizes of an array; undefined when there is none of this name. */
  sizes(name: string): readonly number[] | undefined
  /** The values of an array, or of some rows of it. Throws `WeightFileError` if it is missing. */
  read(name: string, rows?: Rows): Float32Array
  close(): void
}

/** Rows of an array, the first dimension; the end is exclusive. */
export type Rows = readonly [from: number, to: number]

/** A file that is not what its name says, or ends early: the message is for users. */
export class WeightFileError extends Error {
  override name = 'WeightFileError'
}

/** Returns whether a value from a file can be a size, a place or an id. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Returns the fields of an object from a file; no fields for any other value. */
export function asFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Converts 16-bit floats (IEEE 754 binary16). */
export function fromFloat16(bits: Uint16Array): Float32Array {
  const table = halfTable()
  const floats = new Float32Array(bits.length)
  for (let i = 0; i < bits.length; i++) floats[i] = table[bits[i]!]!
  return floats
}

/** Converts brain floats: the upper half of a 32-bit float. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(bits, (value) => value << 16).buffer)
}

let halves: Float32Array | undefined

/** The value of each of the 65536 half floats: a look-up is faster than arithmetic. */
function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1
    const exponent = (bits >> 10) & 0x1f
    const fraction = bits & 0x3ff
    if (exponent === 0) return sign * fraction * 2 ** -24
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
  })
  return halves
}
