/** A discrete Fourier transform in place: of complex numbers, as real and imaginary parts. */
export type Transform = (real: Float64Array, imaginary: Float64Array) => void

/** Creates the fast Fourier transform (radix 2) of `size` complex numbers, a power of two. */
export function createTransform(size: number): Transform {
  if (!Number.isInteger(Math.log2(size))) throw new RangeError(`no power of two: ${size}`)
  const cosines = Float64Array.from({ length: size }, (_, k) => Math.cos((Math.PI * k) / size))
  const sines = Float64Array.from({ length: size }, (_, k) => Math.sin((-Math.PI * k) / size))
  const reversed = reversedBits(size)

  return (real, imaginary) => {
    for (let i = 0; i < size; i++) {
      const j = reversed[i]!
      if (i >= j) continue
      const [re, im] = [real[i]!, imaginary[i]!]
      real[i] = real[j]!
      imaginary[i] = imaginary[j]!
      real[j] = re
      imaginary[j] = im
    }
    for (let span = 1; span < size; span *= 2) {
      const step = size / span
      for (let k = 0; k < span; k++) {
        const [c, s] = [cosines[k * step]!, sines[k * step]!]
        for (let upper = k; upper < size; upper += 2 * span) {
          const lower = upper + span
          const a = real[lower]! * c - imaginary[lower]! * s
          const b = real[lower]! * s + imaginary[lower]! * c
          real[lower] = real[upper]! - a
          imaginary[lower] = imaginary[upper]! - b
          real[upper]! += a
          imaginary[upper]! += b
        }
      }
    }
  }
}

function reversedBits(size: number): Uint16Array {
  const reversed = new Uint16Array(size)
  for (let i = 1; i < size; i++) {
    reversed[i] = (reversed[i >> 1]! >> 1) | (i & 1 ? size >> 1 : 0)
  }
  return reversed
}
