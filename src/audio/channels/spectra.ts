import { createTransform } from './fourier.ts'

/**
 * Samples of one spectrum: 256 ms, so that delays and echoes of tens of milliseconds fit inside.
 */
export const SPECTRUM_SAMPLES = 4096
/** Samples between two spectra: 64 ms. */
export const SPECTRUM_HOP = 1024

/** The telephone band, 300 to 3400 Hz, contains speech and little of hum, bass and hiss. */
const FIRST_BIN = 77
const BINS = 794

/** Bins of a spectrum, counted from 300 Hz; the end is exclusive. */
export type Band = readonly [first: number, end: number]
const ALL: Band = [0, BINS]
/** Bands of a half to one octave: 310, 500, 900, 1500, 2300 and 3400 Hz are their edges. */
export const SPEECH_BANDS: readonly Band[] = [
  [3, 51],
  [51, 155],
  [155, 307],
  [307, 515],
  [515, BINS],
]

const WINDOW = Float64Array.from({ length: SPECTRUM_SAMPLES }, (_, i) => {
  return 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SPECTRUM_SAMPLES)
})
/**
 * Two spectra are transformed together. One with less than this share of the other's energy is a
 * rounding error of the other, and as coherent with it as a copy: its channel is silent.
 */
const ROUNDING = 1e-20
const transform = createTransform(SPECTRUM_SAMPLES)

/** The speech band of a spectrum. */
export type Spectrum = { re: Float64Array; im: Float64Array; energy: number }

/**
 * Returns the speech band of `SPECTRUM_SAMPLES` samples at 16 kHz of each channel. One transform
 * serves two channels: one is its real part, one its imaginary part.
 */
export function speechSpectra(planes: readonly Float32Array[]): Spectrum[] {
  const spectra: Spectrum[] = []
  for (let i = 0; i < planes.length; i += 2) {
    const pair = spectraOfTwo(planes[i]!, planes[i + 1] ?? new Float32Array(0))
    spectra.push(...pair.slice(0, planes.length - i))
  }
  return spectra
}

function spectraOfTwo(a: Float32Array, b: Float32Array): [Spectrum, Spectrum] {
  const re = new Float64Array(SPECTRUM_SAMPLES)
  const im = new Float64Array(SPECTRUM_SAMPLES)
  for (let i = 0; i < a.length; i++) re[i] = a[i]! * WINDOW[i]!
  for (let i = 0; i < b.length; i++) im[i] = b[i]! * WINDOW[i]!
  transform(re, im)
  const [first, second] = [emptySpectrum(), emptySpectrum()]
  for (let i = 0; i < BINS; i++) {
    const low = FIRST_BIN + i
    const high = SPECTRUM_SAMPLES - low
    first.re[i] = (re[low]! + re[high]!) / 2
    first.im[i] = (im[low]! - im[high]!) / 2
    second.re[i] = (im[low]! + im[high]!) / 2
    second.im[i] = (re[high]! - re[low]!) / 2
    first.energy += first.re[i]! ** 2 + first.im[i]! ** 2
    second.energy += second.re[i]! ** 2 + second.im[i]! ** 2
  }
  if (first.energy < ROUNDING * second.energy) return [emptySpectrum(), second]
  if (second.energy < ROUNDING * first.energy) return [first, emptySpectrum()]
  return [first, second]
}

function emptySpectrum(): Spectrum {
  return { re: new Float64Array(BINS), im: new Float64Array(BINS), energy: 0 }
}

/** Sums over the spectra of two channels, from which their coherence is estimated. */
export type PairSpectra = {
  count: number
  first: Float64Array
  second: Float64Array
  re: Float64Array
  im: Float64Array
}

/** Creates empty sums. */
export function createPairSpectra(): PairSpectra {
  const bins = () => new Float64Array(BINS)
  return { count: 0, first: bins(), second: bins(), re: bins(), im: bins() }
}

/** Adds the spectra of both channels at one time. */
export function addSpectra(sums: PairSpectra, a: Spectrum, b: Spectrum): void {
  sums.count++
  for (let i = 0; i < BINS; i++) {
    const ar = a.re[i]!
    const ai = a.im[i]!
    const br = b.re[i]!
    const bi = b.im[i]!
    sums.first[i]! += ar * ar + ai * ai
    sums.second[i]! += br * br + bi * bi
    sums.re[i]! += ar * br + ai * bi
    sums.im[i]! += ai * br - ar * bi
  }
}

/** Adds `other` to `sums`. */
export function addPairSpectra(sums: PairSpectra, other: PairSpectra): void {
  sums.count += other.count
  for (let i = 0; i < BINS; i++) {
    sums.first[i]! += other.first[i]!
    sums.second[i]! += other.second[i]!
    sums.re[i]! += other.re[i]!
    sums.im[i]! += other.im[i]!
  }
}

/**
 * Returns the magnitude-squared coherence (Carter, Knapp, Nuttall 1973) of a band, 0 to 1: the mean
 * over the bins, weighted by their amplitude, minus the expected value of as many spectra of
 * unrelated sounds.
 */
export function coherenceOf(
  { count, first, second, re, im }: PairSpectra,
  [from, to] = ALL,
): number {
  // Spectra overlap by three quarters: about half of them are independent.
  const bias = Math.min(0.9, 2 / count)
  let [sum, weights] = [0, 0]
  for (let i = from; i < to; i++) {
    const product = first[i]! * second[i]!
    if (product <= 0) continue
    const weight = Math.sqrt(product)
    sum += (weight * (re[i]! ** 2 + im[i]! ** 2)) / product
    weights += weight
  }
  if (weights === 0) return 0
  return Math.max(0, (sum / weights - bias) / (1 - bias))
}

/**
 * Returns the correlation of both channels, -1 to 1, with the second shifted to be earlier by
 * `delay` samples.
 */
export function spectralCorrelation({ first, second, re, im }: PairSpectra, delay: number): number {
  let sum = 0
  for (let i = 0; i < BINS; i++) {
    const angle = (2 * Math.PI * (FIRST_BIN + i) * delay) / SPECTRUM_SAMPLES
    sum += re[i]! * Math.cos(angle) + im[i]! * Math.sin(angle)
  }
  const product = total(first) * total(second)
  return product > 0 ? sum / Math.sqrt(product) : 0
}

/**
 * Returns by how many samples the second channel lags behind the first, at most `max` either way:
 * the peak of the generalized cross-correlation with phase transform (GCC-PHAT, Knapp and Carter
 * 1976).
 */
export function delayOf({ re, im }: PairSpectra, max: number): number {
  const real = new Float64Array(SPECTRUM_SAMPLES)
  const imaginary = new Float64Array(SPECTRUM_SAMPLES)
  for (let i = 0; i < BINS; i++) {
    const size = Math.hypot(re[i]!, im[i]!)
    if (size === 0) continue
    real[FIRST_BIN + i] = re[i]! / size
    imaginary[FIRST_BIN + i] = im[i]! / size
  }
  transform(real, imaginary)
  let [best, peak] = [0, Number.NEGATIVE_INFINITY]
  for (let delay = -max; delay <= max; delay++) {
    const value = real[(delay + SPECTRUM_SAMPLES) % SPECTRUM_SAMPLES]!
    if (value > peak) [best, peak] = [delay, value]
  }
  return best
}

/** Returns the energies of both channels in a band. */
export function energiesOf({ first, second }: PairSpectra, band = ALL): [number, number] {
  return [total(first, band), total(second, band)]
}

function total(values: Float64Array, [from, to] = ALL): number {
  let sum = 0
  for (let i = from; i < to; i++) sum += values[i]!
  return sum
}
