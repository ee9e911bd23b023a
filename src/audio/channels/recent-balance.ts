import type { Balance } from './crosstalk.ts'
import { createLevelHistogram, type LevelHistogram } from './level-histogram.ts'
import { comparePair, pairIndex, pairsOf } from './pair-comparison.ts'
import type { Spectrum } from './spectra.ts'

/** The number of blocks from which the gains of two parties are measured (a minute). */
export const BALANCE_BLOCKS = 12
/** The minimum energy of a spectrum, -60 dB: below, there is too little speech to compare. */
const MIN_SPEECH_ENERGY = 3

/** Measures how much louder each channel was recorded than another one, over the latest blocks. */
export type RecentBalance = {
  /** Adds the spectra of all channels for one block. */
  add(block: readonly (readonly Spectrum[])[]): void
  balance: Balance
}

/** Creates the balance of a session. The balance is 0 until two parties have spoken. */
export function createRecentBalance(channels: number): RecentBalance {
  const pairs = pairsOf(channels)
  const blocks: LevelHistogram[][] = []
  let balances = pairs.map(() => 0)

  function add(block: readonly (readonly Spectrum[])[]): void {
    const frames = block.map((spectra) => {
      return { spectra, isSpeech: spectra.map(({ energy }) => energy >= MIN_SPEECH_ENERGY) }
    })
    const levels = pairs.map((pair) => {
      const histogram = createLevelHistogram()
      for (const cell of comparePair(frames, pair).best.cells) histogram.add(cell)
      return histogram
    })
    blocks.push(levels)
    if (blocks.length > BALANCE_BLOCKS) blocks.shift()
    balances = pairs.map((_, i) => recentBalance(i))
  }

  function recentBalance(pair: number): number {
    const sum = createLevelHistogram()
    for (const levels of blocks) sum.merge(levels[pair]!)
    return sum.balance()
  }

  return {
    add,
    balance(first, second) {
      const balance = balances[pairIndex(first, second)] ?? 0
      return first < second ? balance : -balance
    },
  }
}
