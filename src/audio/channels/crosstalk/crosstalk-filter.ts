/** The bins of a spectrum of 1024 samples at 16 kHz. */
export const FILTER_BINS = 513
/** Spectra of the source that explain one spectrum of its crosstalk. */
export const FILTER_TAPS = 4
/** The entries of the lower half of a Hermitian matrix of that size. */
const ENTRIES = (FILTER_TAPS * (FILTER_TAPS + 1)) / 2
/** Keeps the matrix regular in bins without energy, and weights finite. */
const TINY = 1e-12

/** The complex numbers of one spectrum. */
export type SpectrumValues = { re: Float64Array; im: Float64Array }
/** One spectrum in a longer array: `FILTER_BINS` complex numbers from `offset` on. */
export type SpectrumView = SpectrumValues & { offset: number }

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
  readonly #sums = [this.#matrixRe, this.#matrixIm, this.#vectorRe, this.#vectorIm]
  readonly #energies = new Float64Array(FILTER_BINS)
  readonly #predicted = { re: new Float64Array(FILTER_BINS), im: new Float64Array(FILTER_BINS) }

  /** Returns the crosstalk that these spectra of the source cause; the next call overwrites it. */
  predict(taps: readonly SpectrumView[]): SpectrumValues {
    this.#predicted.re.fill(0)
    this.#predicted.im.fill(0)
    for (let k = 0; k < FILTER_TAPS; k++) {
      const { re, im, offset } = taps[k]!
      for (let bin = 0; bin < FILTER_BINS; bin++) {
        const a = this.#gainsRe[bin * FILTER_TAPS + k]!
        const b = this.#gainsIm[bin * FILTER_TAPS + k]!
        const c = re[offset + bin]!
        const d = im[offset + bin]!
        this.#predicted.re[bin]! += a * c - b * d
        this.#predicted.im[bin]! += a * d + b * c
      }
    }
    return this.#predicted
  }

  /** Learns from one spectrum of the target; `floor` is added to the energy of each bin. */
  learn(target: SpectrumView, taps: readonly SpectrumView[], floor: Float64Array): void {
    const { re, im } = this.predict(taps)
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const left = target.re[target.offset + bin]! - re[bin]!
      const leftIm = target.im[target.offset + bin]! - im[bin]!
      this.#energies[bin] = left * left + leftIm * leftIm
    }
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const near =
        this.#energies[bin]! + (this.#energies[bin - 1] ?? 0) + (this.#energies[bin + 1] ?? 0)
      this.#addToSums(bin, 1 / (near / 3 + floor[bin]! + TINY), target, taps)
    }
  }

  #addToSums(
    bin: number,
    weight: number,
    target: SpectrumView,
    taps: readonly SpectrumView[],
  ): void {
    const y = target.re[target.offset + bin]!
    const yIm = target.im[target.offset + bin]!
    let entry = bin * ENTRIES
    for (let i = 0; i < FILTER_TAPS; i++) {
      const a = weight * taps[i]!.re[taps[i]!.offset + bin]!
      const b = weight * taps[i]!.im[taps[i]!.offset + bin]!
      for (let j = 0; j <= i; j++, entry++) {
        const c = taps[j]!.re[taps[j]!.offset + bin]!
        const d = taps[j]!.im[taps[j]!.offset + bin]!
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
  }

  /** Finds the gains that fit best to what was learned. */
  fit(): void {
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const from = bin * FILTER_TAPS
      const matrix = fullMatrix(this.#matrixRe, this.#matrixIm, bin * ENTRIES)
      const re = this.#vectorRe.slice(from, from + FILTER_TAPS)
      const im = this.#vectorIm.slice(from, from + FILTER_TAPS)
      solve(matrix, { re, im })
      this.#gainsRe.set(re, from)
      this.#gainsIm.set(im, from)
    }
  }
}

/** A matrix, row by row, or a vector. */
type Complex = { re: Float64Array; im: Float64Array }

/** Returns a Hermitian matrix, row by row, from its lower half. */
function fullMatrix(lowerRe: Float64Array, lowerIm: Float64Array, from: number): Complex {
  const re = new Float64Array(FILTER_TAPS ** 2)
  const im = new Float64Array(FILTER_TAPS ** 2)
  let entry = from
  for (let i = 0; i < FILTER_TAPS; i++) {
    for (let j = 0; j <= i; j++, entry++) {
      re[i * FILTER_TAPS + j] = re[j * FILTER_TAPS + i] = lowerRe[entry]!
      im[i * FILTER_TAPS + j] = lowerIm[entry]!
      im[j * FILTER_TAPS + i] = -lowerIm[entry]!
    }
    re[i * FILTER_TAPS + i]! += TINY
  }
  return { re, im }
}

/**
 * Solves a system of linear equations in place: the vector becomes the solution. The matrix is
 * Hermitian and positive definite, so no rows are exchanged.
 */
function solve(matrix: Complex, vector: Complex): void {
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
