import { coherenceOf, energiesOf, type PairSpectra, SPEECH_BANDS } from './spectra.ts'

/** Levels from -40 to 40 dB, in bins of a quarter. */
const MAX_DECIBELS = 40
const BINS_PER_DECIBEL = 4
/** Cells count by this power of their coherence, so that those of a single voice decide. */
const SHARPNESS = 4

/** The level differences of two channels, in decibels, with their weights. */
export type LevelHistogram = {
  /** Adds some spectra, close in time: a cell for each band. */
  add(sums: PairSpectra): void
  /** Returns the difference below which lies this share of the weight. */
  quantile(share: number): number
}

/**
 * Creates a histogram of how much louder the voices are in the second channel of a pair. Most cells
 * of time and frequency hold one voice, even while several people talk (Yilmaz and Rickard 2004);
 * such a cell is coherent and shows the level at which this voice reaches both channels.
 */
export function createLevelHistogram(): LevelHistogram {
  const weights = new Float64Array(2 * MAX_DECIBELS * BINS_PER_DECIBEL + 1)
  return {
    add(sums) {
      for (const band of SPEECH_BANDS) {
        const coherence = coherenceOf(sums, band)
        const [first, second] = energiesOf(sums, band)
        const level = commonLevel(first, second, coherence)
        const limited = Math.max(-MAX_DECIBELS, Math.min(MAX_DECIBELS, level))
        weights[Math.round((limited + MAX_DECIBELS) * BINS_PER_DECIBEL)]! += coherence ** SHARPNESS
      }
    },
    quantile(share) {
      let left = share * weights.reduce((sum, weight) => sum + weight, 0)
      let bin = 0
      while (left > weights[bin]! && bin < weights.length - 1) left -= weights[bin++]!
      return bin / BINS_PER_DECIBEL - MAX_DECIBELS
    },
  }
}

/**
 * The level of what two channels have in common, in decibels: the direction of the first principal
 * component. Noise of the same energy in both does not change it.
 */
function commonLevel(first: number, second: number, coherence: number): number {
  const cross = Math.sqrt(coherence * first * second)
  return 20 * Math.log10(Math.tan(Math.atan2(2 * cross, first - second) / 2))
}
