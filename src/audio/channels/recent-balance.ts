import type { Balance } from './crosstalk.ts'
import { createLevelHistogram, type LevelHistogram } from './level-histogram.ts'
import { comparePair } from './pair-comparison.ts'
import type { Spectrum } from './spectra.ts'

/** The number of blocks from which the gains of two parties are measured: a minute. */
export const BALANCE_BLOCKS = 12
/** At less than -60 dB there is too little speech to compare. */
const MIN_SPEECH_ENERGY = 3

/** How much louder each channel was recorded than another one, measured over the latest blocks. */
export type RecentBalance = {
  /** Adds the spectra of all channels for one block. */
  add(block: readonly (readonly Spectrum[])[]): void
  balance: Balance
}

/** Creates the balance of a session. The balance is 0 until two parties have spoken. */
export function createRecentBalance(channels: number): RecentBalance {
  const blocks: Map<string, LevelHistogram>[] = []
  let balances = new Map<string, number>()

  function add(block: readonly (readonly Spectrum[])[]): void {
    const frames = block.map((spectra) => {
      return { spectra, isSpeech: spectra.map(({ energy }) => energy >= MIN_SPEECH_ENERGY) }
    })
    const levels = new Map<string, LevelHistogram>()
    for (let second = 1; second < channels; second++) {
      for (let first = 0; first < second; first++) {
        const histogram = createLevelHistogram()
        for (const cell of comparePair(frames, [first, second]).best.cells) histogram.add(cell)
        levels.set(`${first} ${second}`, histogram)
      }
    }
    blocks.push(levels)
    if (blocks.length > BALANCE_BLOCKS) blocks.shift()
    balances = new Map([...levels.keys()].map((pair) => [pair, recentBalance(pair)]))
  }

  function recentBalance(pair: string): number {
    const sum = createLevelHistogram()
    for (const block of blocks) sum.merge(block.get(pair)!)
    return sum.balance()
  }

  return {
    add,
    balance(first, second) {
      return first < second
        ? (balances.get(`${first} ${second}`) ?? 0)
        : -(balances.get(`${second} ${first}`) ?? 0)
    },
  }
}
