import {
  addPairSpectra,
  addSpectra,
  coherenceOf,
  createPairSpectra,
  type PairSpectra,
  SPECTRUM_SAMPLES,
  type Spectrum,
} from '../spectra.ts'

/** The spectra of all channels at one time, and whether each channel has speech. */
export type SpectralFrame = { spectra: readonly Spectrum[]; isSpeech: readonly boolean[] }

/**
 * A comparison of two channels while someone speaks: the sums of complete cells. The second channel
 * is shifted to be earlier by `lag` spectra.
 */
export type Comparison = { sums: PairSpectra; cells: PairSpectra[]; lag: number }

/**
 * Two channels with the same voice, each with as much unrelated sound, have a coherence of 0.25;
 * different voices stay below 0.15.
 */
export const MIN_COHERENCE = 0.25
/** Samples per probability of speech (32 ms). */
const FRAME_SAMPLES = 512
/** Spectra of one cell: 0.45 s, short enough that one voice dominates most bands. */
const CELL_SPECTRA = 4
/** Spectra by which a channel may lag behind another: 1.09 s. */
const MAX_LAG = 17

/**
 * Compares two channels unshifted, and shifted so that their loudness curves match. `best` is the
 * comparison with the higher coherence.
 */
export function comparePair(
  frames: readonly SpectralFrame[],
  pair: readonly [number, number],
): { unshifted: Comparison; best: Comparison } {
  const unshifted = compareAt(frames, pair, 0)
  const lag = lagOf(frames, pair)
  const shifted = lag === 0 ? unshifted : compareAt(frames, pair, lag)
  const isBetter = coherenceOf(shifted.sums) > coherenceOf(unshifted.sums)
  return { unshifted, best: isBetter ? shifted : unshifted }
}

function compareAt(
  frames: readonly SpectralFrame[],
  [a, b]: readonly [number, number],
  lag: number,
): Comparison {
  const sums = createPairSpectra()
  const cells: PairSpectra[] = []
  let cell = createPairSpectra()
  for (const [first, second] of framesAt(frames, lag)) {
    if (!first.isSpeech[a] && !second.isSpeech[b]) continue
    addSpectra(cell, first.spectra[a]!, second.spectra[b]!)
    if (cell.count < CELL_SPECTRA) continue
    addPairSpectra(sums, cell)
    cells.push(cell)
    cell = createPairSpectra()
  }
  return { sums, cells, lag }
}

/** Pairs each frame with the frame that is `lag` later, or earlier if it is negative. */
export function framesAt(
  frames: readonly SpectralFrame[],
  lag: number,
): [SpectralFrame, SpectralFrame][] {
  return frames.flatMap((frame, n): [SpectralFrame, SpectralFrame][] => {
    const otherFrame = frames[n + lag]
    return otherFrame ? [[frame, otherFrame]] : []
  })
}

/** Returns the lag, in spectra, at which the loudness of the second channel follows the first. */
function lagOf(frames: readonly SpectralFrame[], [a, b]: readonly [number, number]): number {
  let [best, peak] = [0, 0]
  for (let lag = -MAX_LAG; lag <= MAX_LAG; lag++) {
    const correlation = correlationOf(
      framesAt(frames, lag).map(([first, second]) => {
        return [Math.sqrt(first.spectra[a]!.energy), Math.sqrt(second.spectra[b]!.energy)]
      }),
    )
    if (correlation > peak) [best, peak] = [lag, correlation]
  }
  return best
}

/** Returns Pearson's correlation of pairs of values. */
function correlationOf(pairs: readonly (readonly [number, number])[]): number {
  const mean = (i: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[i], 0) / pairs.length
  const [meanX, meanY] = [mean(0), mean(1)]
  let [xx, yy, xy] = [0, 0, 0]
  for (const [x, y] of pairs) {
    xx += (x - meanX) ** 2
    yy += (y - meanY) ** 2
    xy += (x - meanX) * (y - meanY)
  }
  return xx * yy > 0 ? xy / Math.sqrt(xx * yy) : 0
}

/** Returns all pairs of channels, each with the lower channel first. */
export function pairsOf(channels: number): [number, number][] {
  const numbers = Array.from({ length: channels }, (_, i) => i)
  return numbers.flatMap((b) => numbers.slice(0, b).map((a): [number, number] => [a, b]))
}

/** Returns the index of a pair, in either order, among all pairs. */
export function pairIndex(a: number, b: number): number {
  const [low, high] = a < b ? [a, b] : [b, a]
  return (high * (high - 1)) / 2 + low
}

/** Returns whether the middle of the spectrum that begins at `at` is speech. */
export function isSpeechAt(probabilities: Float32Array, at: number): boolean {
  const frame = Math.floor(at / FRAME_SAMPLES)
  let sum = 0
  for (let i = 2; i < 6; i++) sum += probabilities[frame + i] ?? 0
  return sum >= 2
}

/** Returns whether the whole spectrum that begins at `at` is without speech. */
export function isSilent(probabilities: Float32Array, at: number): boolean {
  const frame = Math.floor(at / FRAME_SAMPLES)
  return probabilities
    .subarray(frame, frame + SPECTRUM_SAMPLES / FRAME_SAMPLES)
    .every((probability) => probability < 0.35)
}
