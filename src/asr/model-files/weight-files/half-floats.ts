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
