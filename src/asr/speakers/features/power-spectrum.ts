import { createTransform } from '../../../audio/channels/fourier.ts'

/** Writes the power in each of the bins from 0 up to the Nyquist frequency, which is excluded. */
export type PowerSpectrum = (samples: Float64Array, power: Float64Array) => void

/**
 * Creates the power spectrum of `size` real samples, a power of two: one complex transform of half
 * the size, whose result is then separated into the spectra of the even and odd samples.
 */
export function createPowerSpectrum(size: number): PowerSpectrum {
  const half = size / 2
  const transform = createTransform(half)
  const real = new Float64Array(half)
  const imaginary = new Float64Array(half)
  const cosines = Float64Array.from({ length: half }, (_, k) => Math.cos((2 * Math.PI * k) / size))
  const sines = Float64Array.from({ length: half }, (_, k) => Math.sin((-2 * Math.PI * k) / size))

  return (samples, power) => {
    // Each pair of samples is one complex number.
    for (let i = 0; i < half; i++) {
      real[i] = samples[2 * i]!
      imaginary[i] = samples[2 * i + 1]!
    }
    transform(real, imaginary)
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
