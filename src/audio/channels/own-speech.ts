import type { LevelHistogram } from './level-histogram.ts'
import type { SpectralFrame } from './pair-comparison.ts'

/** Speech belongs to one channel alone if it is 17 dB louder there than in the other one. */
const MIN_RATIO = 50
/** Speech is 10 dB louder than the other sounds of a channel; music alone does not vary as much. */
const MIN_SPEECH_RATIO = 10
/** A smaller share of the speech is considered an error of the speech detection. */
const MIN_SHARE = 0.1
/**
 * Speech that is mixed into another channel electrically has a constant level there, within 3 dB.
 */
const MAX_SPREAD = 6
/** A level that differs by less than 8.7 dB is not a leak. */
const SAME_LEVEL = 8.7
/** A source is to be 6 dB louder, and here it may be 6 dB quieter: the channels hold the same. */
const BALANCE = 12

/** How much of the speech of two channels only one of them has, and how much both have. */
export type OwnSpeech = {
  /**
   * Adds both channels in one window, the one that lags moved ahead. `isSame`: whether they have a
   * voice in common.
   */
  add(pairs: readonly (readonly [SpectralFrame, SpectralFrame])[], isSame: boolean): void
  /**
   * Returns by how many decibels the second channel is to count as louder when a part of the speech
   * is in both, at one level, and another part in one alone: one channel has a party and the other
   * both, or both have both for a part of the call. What is in both belongs to the channel with
   * less speech of its own, as if it leaked from there. Undefined for other recordings. `floors`
   * are the energies of the other sounds.
   */
  balance(facts: {
    levels: readonly LevelHistogram[]
    floors: readonly number[]
  }): number | undefined
}

/** Creates the counts of a recording of two channels. */
export function createOwnSpeech(): OwnSpeech {
  const counts: [number, number] = [0, 0]
  const sums: [number, number] = [0, 0]
  let [spoken, same] = [0, 0]

  /**
   * Returns the share of the speech that only this channel has, and that is louder than its floor.
   */
  function share(channel: 0 | 1, floor: number): number {
    const count = counts[channel]
    return sums[channel] > MIN_SPEECH_RATIO * floor * count ? count / spoken : 0
  }

  return {
    add(pairs, isSame) {
      for (const [first, second] of pairs) {
        const energies = [first.spectra[0]!.energy, second.spectra[1]!.energy] as const
        const isSpeech = [first.isSpeech[0]!, second.isSpeech[1]!] as const
        if (!isSpeech[0] && !isSpeech[1]) continue
        spoken++
        if (isSame) same++
        for (const channel of [0, 1] as const) {
          const other = channel === 0 ? 1 : 0
          if (!isSpeech[channel] || isSpeech[other]) continue
          if (energies[channel] < MIN_RATIO * energies[other]) continue
          counts[channel]++
          sums[channel] += energies[channel]
        }
      }
    },
    balance({ levels, floors }) {
      const own = [share(0, floors[0]!), share(1, floors[1]!)] as const
      if (Math.max(...own) < MIN_SHARE || same < spoken * MIN_SHARE) return undefined
      const [low, middle, high] = [0.1, 0.5, 0.9].map(levels[0]!.quantile)
      if (high! - low! >= MAX_SPREAD || Math.abs(middle!) >= SAME_LEVEL) return undefined
      return middle! + (own[0] <= own[1] ? BALANCE : -BALANCE)
    },
  }
}
