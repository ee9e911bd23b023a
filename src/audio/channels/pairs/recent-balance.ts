import type { Balance } from '../crosstalk/crosstalk.ts'
import { coherenceOf, type Spectrum } from '../spectra.ts'
import { createLevelHistogram, type LevelHistogram } from './level-histogram.ts'
import { createOwnSpeech, MIN_SPEECH_RATIO, type OwnSpeech } from './own-speech.ts'
import {
  type Comparison,
  comparePair,
  framesAt,
  MIN_COHERENCE,
  pairIndex,
  pairsOf,
  type SpectralFrame,
} from './pair-comparison.ts'

/** The number of blocks from which the gains of two parties are measured (a minute). */
export const BALANCE_BLOCKS = 12
/** The minimum energy of a spectrum, -60 dB: below, there is too little speech to compare. */
const MIN_SPEECH_ENERGY = 3

/** The share of the spectra of a block that are not louder than its other sounds. */
const FLOOR_SHARE = 0.1

/** The measurements of one block. `own` and `floors` are those of two channels. */
type Block = { levels: LevelHistogram[]; own: OwnSpeech; floors: number[] }

/** Measures how much louder each channel was recorded than another one, over the latest blocks. */
export type RecentBalance = {
  /** Adds the spectra of all channels for one block. */
  add(block: readonly (readonly Spectrum[])[]): void
  balance: Balance
}

/** Creates the balance of a session. The balance is 0 until two parties have spoken. */
export function createRecentBalance(channels: number): RecentBalance {
  const pairs = pairsOf(channels)
  const blocks: Block[] = []
  let balances = pairs.map(() => 0)

  function add(spectraOfBlock: readonly (readonly Spectrum[])[]): void {
    const frames = spectraOfBlock.map((spectra) => {
      return { spectra, isSpeech: spectra.map(({ energy }) => energy >= MIN_SPEECH_ENERGY) }
    })
    const floors = Array.from({ length: channels }, (_, i) => floorOf(frames, i))
    const own = createOwnSpeech()
    const levels = pairs.map((pair) => {
      const { best } = comparePair(frames, pair)
      if (channels === 2) addOwnSpeech(own, { frames, best, floors })
      const histogram = createLevelHistogram()
      for (const cell of best.cells) histogram.add(cell)
      return histogram
    })
    blocks.push({ levels, own, floors })
    if (blocks.length > BALANCE_BLOCKS) blocks.shift()
    balances = pairs.map((_, i) => recentBalance(i))
  }

  function recentBalance(pair: number): number {
    const levels = createLevelHistogram()
    const own = createOwnSpeech()
    for (const block of blocks) {
      levels.merge(block.levels[pair]!)
      own.merge(block.own)
    }
    const floors = [0, 1].map((i) => Math.min(...blocks.map((block) => block.floors[i]!)))
    return own.balance({ levels: [levels], floors }) ?? levels.balance()
  }

  return {
    add,
    balance(first, second) {
      const balance = balances[pairIndex(first, second)] ?? 0
      return first < second ? balance : -balance
    },
  }
}

/** Returns the energy that a channel has where nobody speaks: most blocks have pauses. */
function floorOf(frames: readonly SpectralFrame[], channel: number): number {
  const energies = frames.map(({ spectra }) => spectra[channel]!.energy).sort((a, b) => a - b)
  return energies[Math.floor(energies.length * FLOOR_SHARE)] ?? 0
}

function addOwnSpeech(
  own: OwnSpeech,
  facts: { frames: readonly SpectralFrame[]; best: Comparison; floors: readonly number[] },
): void {
  const { frames, best, floors } = facts
  const isSame = coherenceOf(best.sums) >= MIN_COHERENCE
  const louder = frames.map(({ spectra, isSpeech }) => {
    const isLouder = ({ energy }: Spectrum, i: number) => energy > MIN_SPEECH_RATIO * floors[i]!
    return { spectra, isSpeech: spectra.map((s, i) => isSpeech[i]! && isLouder(s, i)) }
  })
  own.add(framesAt(louder, isSame ? best.lag : 0), isSame)
}
