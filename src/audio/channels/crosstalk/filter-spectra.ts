import { createTransform } from '../fourier.ts'
import { FRAME_SAMPLES } from './crosstalk.ts'

/** A spectrum covers two frames, and the next one begins a frame later. */
const SIZE = 2 * FRAME_SAMPLES
/** The bins of a spectrum. */
export const FILTER_BINS = FRAME_SAMPLES + 1
/** The telephone band, 300 to 3400 Hz, whose energy shows on which channel someone speaks. */
const FIRST_BIN = 20
const END_BIN = 218
/** The square root of a Hann window: two of them, which overlap by half, add up to 1. */
const WINDOW = Float64Array.from({ length: SIZE }, (_, i) => Math.sin((Math.PI * (i + 0.5)) / SIZE))
const transform = createTransform(SIZE)

/** The complex numbers of a spectrum, `FILTER_BINS` of them. */
export type SpectrumValues = { re: Float64Array; im: Float64Array }
/** A spectrum, and the energy of the speech in it. */
export type FilterSpectrum = SpectrumValues & { energy: number }

/** Returns a spectrum of silence. */
export function emptySpectrum(): SpectrumValues {
  return { re: new Float64Array(FILTER_BINS), im: new Float64Array(FILTER_BINS) }
}

/** Computes the spectrum of two frames. */
export function spectrumOf(first: Float32Array, second: Float32Array): FilterSpectrum {
  const re = new Float64Array(SIZE)
  const im = new Float64Array(SIZE)
  for (let i = 0; i < FRAME_SAMPLES; i++) {
    re[i] = first[i]! * WINDOW[i]!
    re[FRAME_SAMPLES + i] = second[i]! * WINDOW[FRAME_SAMPLES + i]!
  }
  transform(re, im)
  return withEnergy({ re: re.slice(0, FILTER_BINS), im: im.slice(0, FILTER_BINS) })
}

/** Adds the energy of the speech in it to a spectrum. */
export function withEnergy(spectrum: SpectrumValues): FilterSpectrum {
  return { ...spectrum, energy: speechProduct(spectrum, spectrum) }
}

/** Returns the real part of the inner product of two spectra in the telephone band. */
export function speechProduct(a: SpectrumValues, b: SpectrumValues): number {
  let product = 0
  for (let bin = FIRST_BIN; bin < END_BIN; bin++) {
    product += a.re[bin]! * b.re[bin]! + a.im[bin]! * b.im[bin]!
  }
  return product
}

/** Adds `gain` times another spectrum to a spectrum. */
export function addSpectrum(sum: SpectrumValues, { re, im }: SpectrumValues, gain: number): void {
  for (let bin = 0; bin < FILTER_BINS; bin++) {
    sum.re[bin]! += gain * re[bin]!
    sum.im[bin]! += gain * im[bin]!
  }
}

/**
 * Returns what a spectrum contributes to the samples of its two frames: the sum of two overlapping
 * contributions is the signal.
 */
export function samplesOf({ re, im }: SpectrumValues): Float32Array {
  const real = new Float64Array(SIZE)
  const imaginary = new Float64Array(SIZE)
  real[0] = re[0]!
  for (let bin = 1; bin < FILTER_BINS; bin++) {
    real[bin] = real[SIZE - bin] = re[bin]!
    // Of the conjugate, so that the transform is the inverse one.
    imaginary[bin] = -im[bin]!
    imaginary[SIZE - bin] = im[bin]!
  }
  imaginary[FRAME_SAMPLES] = 0
  transform(real, imaginary)
  const samples = new Float32Array(SIZE)
  for (let i = 0; i < SIZE; i++) samples[i] = (real[i]! * WINDOW[i]!) / SIZE
  return samples
}
