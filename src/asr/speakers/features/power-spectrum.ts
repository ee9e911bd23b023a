/** Writes the power in each of the bins from 0 up to the Nyquist frequency, which is excluded. */
export type PowerSpectrum = (samples: Float64Array, power: Float64Array) => void

/**
 * Creates the power spectrum of `size` real samples, a power of two: one complex transform of half
 * the size (radix 2, in place), whose result is then split into even and odd samples.
 */
export function createPowerSpectrum(size: number): PowerSpectrum {
  const half = size / 2
  if (!Number.isInteger(Math.log2(half))) throw new RangeError(`no power of two: ${size}`)
  const real = new Float64Array(half)
  const imaginary = new Float64Array(half)
  const cosines = Float64Array.from({ length: half }, (_, k) => Math.cos((2 * Math.PI * k) / size))
  const sines = Float64Array.from({ length: half }, (_, k) => Math.sin((-2 * Math.PI * k) / size))
  const reversed = reversedBits(half)

  /** Takes `samples` in pairs as complex numbers. */
  function transform(samples: Float64Array): void {
    for (let i = 0; i < half; i++) {
      real[i] = samples[2 * reversed[i]!]!
      imaginary[i] = samples[2 * reversed[i]! + 1]!
    }
    for (let span = 1; span < half; span *= 2) {
      const step = half / span
      for (let k = 0; k < span; k++) {
        const [c, s] = [cosines[k * step]!, sines[k * step]!]
        for (let upper = k; upper < half; upper += 2 * span) {
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

  return (samples, power) => {
    transform(samples)
    for (let k = 0; k < half; k++) {
      const mirror = (half - k) % half
      const evenReal = (real[k]! + real[mirror]!) / 2
      const evenImaginary = (imaginary[k]! - imaginary[mirror]!) / 2
      const oddReal = (imaginary[k]! + imaginary[mirror]!) / 2
      const oddImaginary = (real[mirror]! - real[k]!) / 2
      const a = evenReal + oddReal * cosines[k]! - oddImaginary * sines[k]!
      const b = evenImaginary + oddReal * sines[k]! + oddImaginary * cosines[k]!
      power[k] = a * a + b * b
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
