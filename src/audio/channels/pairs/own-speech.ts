import { type LevelHistogram, SAME_LEVEL } from './level-histogram.ts'
import type { SpectralFrame } from './pair-comparison.ts'

/** Speech belongs to one channel alone if it is 17 dB louder there than in the other one. */
const MIN_RATIO = 50
/** Speech is 10 dB louder than the other sounds of a channel; music alone does not vary as much. */
export const MIN_SPEECH_RATIO = 10
/** A smaller share of the speech is considered an error of the speech detection. */
const MIN_SHARE = 0.1
/**
 * Speech that is mixed into another channel electrically has a constant level there, within 3 dB.
 */
const MAX_SPREAD = 6
/**
 * The balance in decibels for such recordings: a source must be 6 dB louder than its crosstalk, but
 * here it may be 6 dB quieter, because both channels contain the same speech.
 */
const BALANCE = 12

/** Measures how much of the speech of two channels only one of them has, and how much both have. */
export type OwnSpeech = {
  /** What has been counted, in spectra, and the energy of the speech that one channel has alone. */
  readonly totals: OwnSpeechTotals
  /** Adds what another measurement has counted. */
  merge(other: OwnSpeech): void
  /**
   * Adds both channels in one window, aligned in time. `isSame` states whether they have a voice in
   * common.
   */
  add(pairs: readonly (readonly [SpectralFrame, SpectralFrame])[], isSame: boolean): void
  /**
   * Returns by how many decibels the second channel counts as louder if a part of the speech is in
   * both channels, at one level, and another part in only one: one channel has one party and the
   * other both, or both have both parties for a part of the call. Speech in both channels is
   * assigned to the channel with less speech of its own, as if it leaked from there. Undefined for
   * other recordings. `floors` are the energies of the other sounds.
   */
  balance(facts: {
    levels: readonly LevelHistogram[]
    floors: readonly number[]
  }): number | undefined
}

type OwnSpeechTotals = {
  counts: [number, number]
  sums: [number, number]
  spoken: number
  same: number
}

/** Creates the measurement of two channels. */
export function createOwnSpeech(): OwnSpeech {
  const totals: OwnSpeechTotals = { counts: [0, 0], sums: [0, 0], spoken: 0, same: 0 }
  const { counts, sums } = totals

  /**
   * Returns the share of the speech that only this channel has, and that is louder than its floor.
   */
  function share(channel: 0 | 1, floor: number): number {
    const count = counts[channel]
    return sums[channel] > MIN_SPEECH_RATIO * floor * count ? count / totals.spoken : 0
  }

  return {
    totals,
    merge(other) {
      for (const channel of [0, 1] as const) {
        counts[channel] += other.totals.counts[channel]
        sums[channel] += other.totals.sums[channel]
      }
      totals.spoken += other.totals.spoken
      totals.same += other.totals.same
    },
    add(pairs, isSame) {
      for (const [first, second] of pairs) {
        const energies = [first.spectra[0]!.energy, second.spectra[1]!.energy] as const
        const isSpeech = [first.isSpeech[0]!, second.isSpeech[1]!] as const
        if (!isSpeech[0] && !isSpeech[1]) continue
        totals.spoken++
        if (isSame) totals.same++
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
      if (Math.max(...own) < MIN_SHARE || totals.same < totals.spoken * MIN_SHARE) return undefined
      const [low, middle, high] = [0.1, 0.5, 0.9].map(levels[0]!.quantile)
      if (high! - low! >= MAX_SPREAD || Math.abs(middle!) >= SAME_LEVEL) return undefined
      return middle! + (own[0] <= own[1] ? BALANCE : -BALANCE)
    },
  }
}
