import { emptySpectrum, FILTER_BINS, type SpectrumValues } from './filter-spectra.ts'

/** Spectra of the source that explain one spectrum of its crosstalk. */
export const FILTER_TAPS = 4
/** The entries of the lower half of a Hermitian matrix of that size. */
const ENTRIES = (FILTER_TAPS * (FILTER_TAPS + 1)) / 2
/** Keeps the matrix regular in bins without energy, and weights finite. */
const TINY = 1e-12
/** The share of the mean energy of a bin that counts as noise. */
const NOISE_SHARE = 0.1
/** The gains are found again after half a second of crosstalk, later after 2 s. */
const MIN_FIT_INTERVAL = 16
const MAX_FIT_INTERVAL = 64

/**
 * The linear filter from the spectra of a source to those of its crosstalk: in each bin, a
 * complex gain for each of `FILTER_TAPS` spectra. It minimizes the energy of the target that it
 * does not explain, weighted by the inverse of the energy that was left with the gains so far. So
 * moments in which the target speaks hardly count (the weights of weighted prediction error,
 * Nakatani et al. 2010).
 */
export class CrosstalkFilter {
  readonly #matrixRe = new Float64Array(FILTER_BINS * ENTRIES)
  readonly #matrixIm = new Float64Array(FILTER_BINS * ENTRIES)
  readonly #vectorRe = new Float64Array(FILTER_BINS * FILTER_TAPS)
  readonly #vectorIm = new Float64Array(FILTER_BINS * FILTER_TAPS)
  readonly #gainsRe = new Float64Array(FILTER_BINS * FILTER_TAPS)
  readonly #gainsIm = new Float64Array(FILTER_BINS * FILTER_TAPS)
  /** The energy of each bin of the target, added up. */
  readonly #targetEnergies = new Float64Array(FILTER_BINS)
  readonly #sums = [
    this.#matrixRe,
    this.#matrixIm,
    this.#vectorRe,
    this.#vectorIm,
    this.#targetEnergies,
  ]
  readonly #energies = new Float64Array(FILTER_BINS)
  /** The spectra that were learned, and the number of them at which the gains are found again. */
  #count = 0
  #nextFit = MIN_FIT_INTERVAL

  /** Returns the crosstalk that these spectra of the source cause. */
  predict(taps: readonly SpectrumValues[]): SpectrumValues {
    const predicted = emptySpectrum()
    this.addPrediction(predicted, taps, 1)
    return predicted
  }

  /** Adds `factor` times the crosstalk that these spectra of the source cause to a spectrum. */
  addPrediction(sum: SpectrumValues, taps: readonly SpectrumValues[], factor: number): void {
    for (let k = 0; k < FILTER_TAPS; k++) {
      const { re, im } = taps[k]!
      for (let bin = 0; bin < FILTER_BINS; bin++) {
        const a = factor * this.#gainsRe[bin * FILTER_TAPS + k]!
        const b = factor * this.#gainsIm[bin * FILTER_TAPS + k]!
        const c = re[bin]!
        const d = im[bin]!
        sum.re[bin]! += a * c - b * d
        sum.im[bin]! += a * d + b * c
      }
    }
  }

  /** Learns from one spectrum of the target; returns what was predicted for it. */
  learn(target: SpectrumValues, taps: readonly SpectrumValues[]): SpectrumValues {
    const predicted = this.predict(taps)
    const { re, im } = predicted
    this.#count++
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const a = target.re[bin]!
      const b = target.im[bin]!
      this.#targetEnergies[bin]! += a * a + b * b
      this.#energies[bin] = (a - re[bin]!) ** 2 + (b - im[bin]!) ** 2
    }
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const near =
        this.#energies[bin]! + (this.#energies[bin - 1] ?? 0) + (this.#energies[bin + 1] ?? 0)
      const floor = (NOISE_SHARE * this.#targetEnergies[bin]!) / this.#count
      this.#addToSums(bin, 1 / (near / 3 + floor + TINY), target, taps)
    }
    if (this.#count >= this.#nextFit) this.#fit()
    return predicted
  }

  #addToSums(
    bin: number,
    weight: number,
    target: SpectrumValues,
    taps: readonly SpectrumValues[],
  ): void {
    const y = target.re[bin]!
    const yIm = target.im[bin]!
    let entry = bin * ENTRIES
    for (let i = 0; i < FILTER_TAPS; i++) {
      const a = weight * taps[i]!.re[bin]!
      const b = weight * taps[i]!.im[bin]!
      for (let j = 0; j <= i; j++, entry++) {
        const c = taps[j]!.re[bin]!
        const d = taps[j]!.im[bin]!
        this.#matrixRe[entry]! += a * c + b * d
        this.#matrixIm[entry]! += a * d - b * c
      }
      this.#vectorRe[bin * FILTER_TAPS + i]! += a * y + b * yIm
      this.#vectorIm[bin * FILTER_TAPS + i]! += a * yIm - b * y
    }
  }

  /** Multiplies the weight of everything learned so far by `factor`. */
  forget(factor: number): void {
    for (const array of this.#sums) for (let i = 0; i < array.length; i++) array[i]! *= factor
    this.#nextFit -= (1 - factor) * this.#count
    this.#count *= factor
  }

  /** Finds the gains that fit best to what was learned. */
  #fit(): void {
    const interval = Math.min(MAX_FIT_INTERVAL, this.#count / 4)
    this.#nextFit = this.#count + Math.max(MIN_FIT_INTERVAL, interval)
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const from = bin * FILTER_TAPS
      setMatrix(equations.matrix, { re: this.#matrixRe, im: this.#matrixIm }, bin * ENTRIES)
      equations.vector.re.set(this.#vectorRe.subarray(from, from + FILTER_TAPS))
      equations.vector.im.set(this.#vectorIm.subarray(from, from + FILTER_TAPS))
      solve(equations)
      this.#gainsRe.set(equations.vector.re, from)
      this.#gainsIm.set(equations.vector.im, from)
    }
  }
}

/** A matrix, row by row, or a vector. */
type Complex = { re: Float64Array; im: Float64Array }

/** Linear equations; the matrix is Hermitian and positive definite. */
type Equations = { matrix: Complex; vector: Complex }

/** Those of one bin, allocated once. */
const equations: Equations = {
  matrix: { re: new Float64Array(FILTER_TAPS ** 2), im: new Float64Array(FILTER_TAPS ** 2) },
  vector: { re: new Float64Array(FILTER_TAPS), im: new Float64Array(FILTER_TAPS) },
}

/** Fills in a Hermitian matrix from its lower half, which begins at `from`. */
function setMatrix({ re, im }: Complex, lowerHalf: Complex, from: number): void {
  let entry = from
  for (let i = 0; i < FILTER_TAPS; i++) {
    for (let j = 0; j <= i; j++, entry++) {
      re[i * FILTER_TAPS + j] = re[j * FILTER_TAPS + i] = lowerHalf.re[entry]!
      im[i * FILTER_TAPS + j] = lowerHalf.im[entry]!
      im[j * FILTER_TAPS + i] = -lowerHalf.im[entry]!
    }
    re[i * FILTER_TAPS + i]! += TINY
  }
}

/** Solves equations in place: the vector becomes the solution. No rows need to be exchanged. */
function solve({ matrix, vector }: Equations): void {
  for (let column = 0; column < FILTER_TAPS; column++) {
    const pivot = matrix.re[column * FILTER_TAPS + column]!
    for (let row = column + 1; row < FILTER_TAPS; row++) {
      const re = matrix.re[row * FILTER_TAPS + column]! / pivot
      const im = matrix.im[row * FILTER_TAPS + column]! / pivot
      for (let k = column; k < FILTER_TAPS; k++) {
        subtractProduct(matrix, row * FILTER_TAPS + k, { re, im }, column * FILTER_TAPS + k)
      }
      const c = vector.re[column]!
      const d = vector.im[column]!
      vector.re[row]! -= re * c - im * d
      vector.im[row]! -= re * d + im * c
    }
  }
  for (let row = FILTER_TAPS - 1; row >= 0; row--) {
    for (let k = row + 1; k < FILTER_TAPS; k++) {
      const a = matrix.re[row * FILTER_TAPS + k]!
      const b = matrix.im[row * FILTER_TAPS + k]!
      const c = vector.re[k]!
      const d = vector.im[k]!
      vector.re[row]! -= a * c - b * d
      vector.im[row]! -= a * d + b * c
    }
    const pivot = matrix.re[row * FILTER_TAPS + row]!
    vector.re[row]! /= pivot
    vector.im[row]! /= pivot
  }
}

function subtractProduct(
  { re, im }: Complex,
  at: number,
  factor: { re: number; im: number },
  from: number,
): void {
  const c = re[from]!
  const d = im[from]!
  re[at]! -= factor.re * c - factor.im * d
  im[at]! -= factor.re * d + factor.im * c
}
