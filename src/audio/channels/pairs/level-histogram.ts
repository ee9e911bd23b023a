import { sum } from '../../../numbers.ts'
import { coherenceOf, energiesOf, type PairSpectra, SPEECH_BANDS } from '../spectra.ts'

/** The histogram has levels from -40 to 40 dB, in bins of a quarter of a decibel. */
const MAX_DECIBELS = 40
const BINS_PER_DECIBEL = 4
/**
 * The weight of a cell is its coherence to this power, so that cells with a single voice dominate.
 */
const SHARPNESS = 4
/**
 * Below this difference in decibels a voice has about the same level in two channels: neither is a
 * leak of the other. Panning by 70:30 makes 7.4 dB; what leaks from one line of a call into another
 * lies 10 dB below, or more.
 */
export const SAME_LEVEL = 8.7
/**
 * Each of two parties is louder in its own channel. Their levels differ by at least this, in
 * decibels.
 */
const MIN_DISTANCE = 17.4
/**
 * Each party has at least this share of the weight; at most this share lies between two parties.
 */
const MIN_PARTY = 0.02
const MAX_BETWEEN = 0.05

/** The level differences of two channels, in decibels, with their weights. */
export type LevelHistogram = {
  /** Adds the sums of spectra that are close in time: one cell for each band. */
  add(sums: PairSpectra): void
  /** Adds the weights of another histogram. */
  merge(other: LevelHistogram): void
  readonly weights: Readonly<Float64Array>
  /** Returns the level difference in decibels below which this share of the weight lies. */
  quantile(share: number): number
  /**
   * Returns by how many decibels the second channel was recorded louder, if there are two parties:
   * halfway between their levels. Returns 0 if the levels themselves show to which channel each
   * voice belongs.
   */
  balance(): number
}

/**
 * Creates a histogram of how much louder the voices are in the second channel of a pair. Most cells
 * of time and frequency hold one voice, even while several people talk (Yilmaz and Rickard 2004);
 * such a cell is coherent and shows the level at which this voice reaches both channels.
 */
export function createLevelHistogram(): LevelHistogram {
  const weights = new Float64Array(2 * MAX_DECIBELS * BINS_PER_DECIBEL + 1)
  return {
    weights,
    merge(other) {
      for (const [bin, weight] of other.weights.entries()) weights[bin]! += weight
    },
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
      let remainingWeight = share * sum(weights)
      let bin = 0
      while (remainingWeight > weights[bin]! && bin < weights.length - 1)
        remainingWeight -= weights[bin++]!
      return levelOf(bin)
    },
    balance() {
      const { below, above, share } = splitLevels(weights)
      const distance = above - below
      if (distance < MIN_DISTANCE || Math.min(share, 1 - share) < MIN_PARTY) return 0
      const center = (below + above) / 2
      const between = shareOf(weights, (level) => Math.abs(level - center) < distance / 4)
      // A voice that is clearly louder in one channel belongs to that channel.
      const isSimilar = Math.min(Math.abs(below), Math.abs(above)) < SAME_LEVEL
      return isSimilar && between <= MAX_BETWEEN ? center : 0
    },
  }
}

function levelOf(bin: number): number {
  return bin / BINS_PER_DECIBEL - MAX_DECIBELS
}

function shareOf(weights: Float64Array, isCounted: (level: number) => boolean): number {
  const total = sum(weights)
  const counted = weights.filter((_, bin) => isCounted(levelOf(bin)))
  return total > 0 ? sum(counted) / total : 0
}

/**
 * Splits the levels where the variance between both parts is greatest (Otsu 1979); returns the mean
 * levels of both parts, and the share of the weight of the lower one.
 */
function splitLevels(weights: Float64Array): { below: number; above: number; share: number } {
  const total = sum(weights)
  const all = weights.reduce((sum, weight, bin) => sum + weight * levelOf(bin), 0)
  let best = { below: 0, above: 0, share: 0, variance: 0 }
  let weightBelow = 0
  let sumBelow = 0
  for (let bin = 0; bin < weights.length; bin++) {
    weightBelow += weights[bin]!
    sumBelow += weights[bin]! * levelOf(bin)
    const share = weightBelow / total
    if (!(share > 0 && share < 1)) continue
    const below = sumBelow / weightBelow
    const above = (all - sumBelow) / (total - weightBelow)
    const variance = share * (1 - share) * (above - below) ** 2
    if (variance > best.variance) best = { below, above, share, variance }
  }
  return best
}

/**
 * Returns the level difference in decibels of the sound that two channels share: the direction of
 * the first principal component. Noise of the same energy in both does not change it.
 */
function commonLevel(first: number, second: number, coherence: number): number {
  const cross = Math.sqrt(coherence * first * second)
  return 20 * Math.log10(Math.tan(Math.atan2(2 * cross, first - second) / 2))
}
