import type { PlanarSamples } from '../../pcm.ts'
import { createTransform } from '../fourier.ts'
import { FRAME_SAMPLES } from './crosstalk.ts'
import { FILTER_BINS, type SpectrumValues, type SpectrumView } from './crosstalk-filter.ts'

/** A spectrum covers two frames, and the next one begins a frame later. */
const SIZE = 2 * FRAME_SAMPLES
/** The telephone band, 300 to 3400 Hz, whose energy shows on which channel someone speaks. */
const FIRST_BIN = 20
const END_BIN = 218
/** The square root of a Hann window: two of them, which overlap by half, add up to 1. */
const WINDOW = Float64Array.from({ length: SIZE }, (_, i) => Math.sin((Math.PI * (i + 0.5)) / SIZE))
const transform = createTransform(SIZE)

/**
 * The spectra of a channel in one block, one after the other, and the energy of speech in each. The
 * first one begins a frame before the block.
 */
export type BlockSpectra = SpectrumValues & { energy: Float64Array }

/** A block of samples of all channels, and the last frame before it. */
export type SampleBlock = { planes: PlanarSamples; before: PlanarSamples }

/** Computes the spectra of a channel. */
export function spectraOf({ planes, before }: SampleBlock, channel: number): BlockSpectra {
  const samples = new Float32Array(FRAME_SAMPLES + planes[channel]!.length)
  samples.set(before[channel]!)
  samples.set(planes[channel]!, FRAME_SAMPLES)
  const count = samples.length / FRAME_SAMPLES - 1
  const values = () => new Float64Array(count * FILTER_BINS)
  const spectra = { re: values(), im: values(), energy: new Float64Array(count) }
  const re = new Float64Array(SIZE)
  const im = new Float64Array(SIZE)
  for (let n = 0; n < count; n++) {
    im.fill(0)
    for (let i = 0; i < SIZE; i++) re[i] = samples[n * FRAME_SAMPLES + i]! * WINDOW[i]!
    transform(re, im)
    spectra.re.set(re.subarray(0, FILTER_BINS), n * FILTER_BINS)
    spectra.im.set(im.subarray(0, FILTER_BINS), n * FILTER_BINS)
    spectra.energy[n] = speechProduct({ re, im, offset: 0 }, { re, im })
  }
  return spectra
}

/** Returns the real part of the inner product of two spectra in the telephone band. */
export function speechProduct({ re, im, offset }: SpectrumView, other: SpectrumValues): number {
  let product = 0
  for (let bin = FIRST_BIN; bin < END_BIN; bin++) {
    product += re[offset + bin]! * other.re[bin]! + im[offset + bin]! * other.im[bin]!
  }
  return product
}

/** Subtracts a spectrum from the n-th one of a block. */
export function subtractSpectrum(spectra: BlockSpectra, n: number, other: SpectrumValues): void {
  const { re, im, energy } = spectra
  const offset = n * FILTER_BINS
  for (let bin = 0; bin < FILTER_BINS; bin++) {
    re[offset + bin]! -= other.re[bin]!
    im[offset + bin]! -= other.im[bin]!
  }
  const rest = { re: re.subarray(offset), im: im.subarray(offset) }
  energy[n] = speechProduct({ re, im, offset }, rest)
}

/** Returns the mean energy of each bin. */
export function meanEnergies({ re, im, energy }: BlockSpectra): Float64Array {
  const sums = new Float64Array(FILTER_BINS)
  for (let i = 0; i < re.length; i++) sums[i % FILTER_BINS]! += re[i]! ** 2 + im[i]! ** 2
  return sums.map((sum) => sum / energy.length)
}

/**
 * Subtracts `gain` times the samples of a spectrum that begins at `start`; parts before and after
 * `samples` are left out.
 */
export function subtractSamples(
  samples: Float32Array,
  { re, im }: SpectrumValues,
  { start, gain }: { start: number; gain: number },
): void {
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
  for (let i = Math.max(0, -start); i < Math.min(SIZE, samples.length - start); i++) {
    samples[start + i]! -= (gain * WINDOW[i]! * real[i]!) / SIZE
  }
}
