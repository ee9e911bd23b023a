import type { PlanarSamples } from '../../pcm.ts'
import {
  type BlockSpectra,
  meanEnergies,
  type SampleBlock,
  spectraOf,
  speechProduct,
  subtractSamples,
  subtractSpectrum,
} from './block-spectra.ts'
import {
  type Balance,
  CROSSTALK_BLOCK,
  type CrosstalkPath,
  FRAME_SAMPLES,
  minSourceGain,
} from './crosstalk.ts'
import { CrosstalkFilter, FILTER_BINS, FILTER_TAPS, type SpectrumView } from './crosstalk-filter.ts'

/** The spectra of the source that explain one of its crosstalk begin 32 ms before its delay. */
const FIRST_TAP = -1
/** The minimum energy of speech, -60 dB. */
const MIN_SPEECH_ENERGY = 0.26
/** How much what was learned so far counts beside the next block: paths change with time. */
const MEMORY = 0.9
/** The share of the mean energy of a bin that counts as noise. */
const NOISE_SHARE = 0.01
/** Spectra on either side (0.1 s) in which the level of crosstalk is the same. */
const NEAR = 3
/** Automatic gain control raises crosstalk by up to 12 dB. */
const MAX_GAIN = 4
/** What a source 15 dB quieter than the target leaks into it does no harm, and stays. */
const MIN_SOURCE_ENERGY = 0.03
/** At least a tenth of the crosstalk is taken to be left, although it may be less. */
const MIN_SHARE_LEFT = 0.1
/** The minimum number of spectra that show what is left. */
const MIN_SHARES = 8
const TINY = 1e-12

/** A block, and the spectra that were computed of it; `cleaned` are those without crosstalk. */
type Block = SampleBlock & {
  spectra: Map<number, BlockSpectra>
  cleaned: Map<number, BlockSpectra>
}
type PathFilter = { path: CrosstalkPath; filter: CrosstalkFilter }
/** For each spectrum, the energy of a prediction, and its product with the target. */
type Comparison = { predicted: Float64Array; product: Float64Array }

/**
 * A canceller of crosstalk between the channels of a recording: it predicts from each channel what
 * leaks into the others and subtracts that, so that where two people talk at once, each channel
 * keeps the speech of its own.
 *
 * A filter for each path learns from the moments in which its source is the louder channel. It
 * predicts from the source without the crosstalk of others, or else the target's own speech, which
 * leaked into the source, would be subtracted from itself. The level of the prediction follows that
 * of the crosstalk, which changes with automatic gain control.
 */
export class CrosstalkCanceller {
  readonly #balance: Balance
  readonly #filters = new Map<string, PathFilter>()
  /** The block before the current one, the current one, and the next one. */
  #blocks: (Block | undefined)[] = [undefined, undefined, undefined]

  constructor(balance: Balance) {
    this.#balance = balance
  }

  /** Takes the block after the next one; the next block becomes the current one. */
  add(planes: PlanarSamples): void {
    const last = this.#blocks[2]?.planes ?? planes.map(() => new Float32Array(FRAME_SAMPLES))
    const before = last.map((plane) => plane.slice(-FRAME_SAMPLES))
    const block = { planes, before, spectra: new Map(), cleaned: new Map() }
    this.#blocks = [this.#blocks[1], this.#blocks[2], block]
  }

  /**
   * Returns the current block without the crosstalk of these and earlier paths, and these paths
   * with the gains of what is left of it.
   */
  cancel(paths: readonly CrosstalkPath[]): {
    planes: PlanarSamples
    paths: CrosstalkPath[]
  } {
    for (const path of paths) this.#addPath(path)
    for (const pathFilter of this.#filters.values()) {
      pathFilter.filter.forget(MEMORY)
      this.#learn(pathFilter, CROSSTALK_BLOCK)
    }
    this.#cleanSources(0)
    this.#cleanSources(CROSSTALK_BLOCK)
    const planes = this.#blocks[1]!.planes.map((plane) => plane.slice())
    const left = new Map<string, number>()
    for (const [key, { path, filter }] of this.#filters) {
      const comparison = this.#compare(path, filter)
      this.#subtract(planes[path.target]!, { path, filter, comparison })
      left.set(key, this.#shareLeft(path, comparison))
    }
    const pathsLeft = paths.map((path) => {
      const gains = path.gains.map((gain) => gain * left.get(keyOf(path))!)
      return { ...path, gains }
    })
    return { planes, paths: pathsLeft }
  }

  #addPath(path: CrosstalkPath): void {
    const known = this.#filters.get(keyOf(path))
    // A filter also covers delays that are a little shorter or longer than its own.
    if (known && Math.abs(known.path.delay - path.delay) <= 1) return
    const added = { path, filter: new CrosstalkFilter() }
    this.#filters.set(keyOf(path), added)
    this.#learn(added, 0)
  }

  /** Learns from a block; `start` is its first spectrum. */
  #learn({ path, filter }: PathFilter, start: number): void {
    const noise = meanEnergies(this.#spectraAt(path.target, start)!.spectra)
    const floor = noise.map((energy) => NOISE_SHARE * energy)
    for (let n = start; n < start + CROSSTALK_BLOCK; n++) {
      const taps = this.#showsCrosstalk(path, n) ? this.#tapsAt(path, n) : undefined
      if (taps) filter.learn(this.#viewAt(path.target, n)!, taps, floor)
    }
    filter.fit()
  }

  /** Returns whether the source of a path speaks, louder than its crosstalk may be. */
  #showsCrosstalk({ source, target, delay }: CrosstalkPath, n: number): boolean {
    const energy = this.#energyAt(source, n - delay)
    const minEnergy = minSourceGain(this.#balance(source, target)) * this.#energyAt(target, n)
    return energy >= Math.max(MIN_SPEECH_ENERGY, minEnergy)
  }

  /** Returns whether the source of a path is loud enough for its crosstalk to do harm. */
  #mayLeak({ source, target, delay }: CrosstalkPath, n: number, kind?: 'cleaned'): boolean {
    const level = 10 ** (this.#balance(source, target) / 10)
    const energy = level * this.#energyAt(source, n - delay, kind)
    return energy >= MIN_SOURCE_ENERGY * this.#energyAt(target, n)
  }

  /** Computes the spectra of a block without the crosstalk that its channels get. */
  #cleanSources(start: number): void {
    const { cleaned } = this.#blocks[start / CROSSTALK_BLOCK + 1]!
    cleaned.clear()
    for (const { path, filter } of this.#filters.values()) {
      const spectra =
        cleaned.get(path.target) ?? structuredClone(this.#spectraAt(path.target, start)!.spectra)
      cleaned.set(path.target, spectra)
      for (let n = 0; n < CROSSTALK_BLOCK; n++) {
        const taps = this.#mayLeak(path, start + n) ? this.#tapsAt(path, start + n) : undefined
        if (taps) subtractSpectrum(spectra, n, filter.predict(taps))
      }
    }
  }

  /** Compares the prediction of a path with its target in the current and the next block. */
  #compare(path: CrosstalkPath, filter: CrosstalkFilter): Comparison {
    const [predicted, product] = [[], []] as [number[], number[]]
    for (let n = 0; n < 2 * CROSSTALK_BLOCK; n++) {
      const taps = this.#mayLeak(path, n, 'cleaned') ? this.#tapsAt(path, n, 'cleaned') : undefined
      const prediction = taps && filter.predict(taps)
      predicted.push(prediction ? speechProduct({ ...prediction, offset: 0 }, prediction) : 0)
      product.push(prediction ? speechProduct(this.#viewAt(path.target, n)!, prediction) : 0)
    }
    return { predicted: Float64Array.from(predicted), product: Float64Array.from(product) }
  }

  /** Subtracts the crosstalk of a path from the samples of its target in the current block. */
  #subtract(
    samples: Float32Array,
    { path, filter, comparison }: PathFilter & { comparison: Comparison },
  ): void {
    for (let n = 0; n <= CROSSTALK_BLOCK; n++) {
      const gain = gainAt(comparison, n)
      const taps = gain > 0 ? this.#tapsAt(path, n, 'cleaned') : undefined
      if (taps)
        subtractSamples(samples, filter.predict(taps), { start: (n - 1) * FRAME_SAMPLES, gain })
    }
  }

  /** Returns the share of the crosstalk that is left, in the quarter of spectra with the least. */
  #shareLeft(path: CrosstalkPath, comparison: Comparison): number {
    const shares: number[] = []
    for (let n = 0; n < 2 * CROSSTALK_BLOCK; n++) {
      if (!this.#showsCrosstalk(path, n)) continue
      const gain = gainAt(comparison, n)
      const removed = gain * (2 * comparison.product[n]! - gain * comparison.predicted[n]!)
      shares.push(1 - removed / (this.#energyAt(path.target, n) + TINY))
    }
    if (shares.length < MIN_SHARES) return 1
    shares.sort((a, b) => a - b)
    return Math.min(1, Math.max(MIN_SHARE_LEFT, shares[Math.floor(shares.length / 4)]!))
  }

  /** Returns the spectra of the source that explain the n-th one of the target, if known. */
  #tapsAt(path: CrosstalkPath, n: number, kind?: 'cleaned'): SpectrumView[] | undefined {
    const taps: SpectrumView[] = []
    for (let k = 0; k < FILTER_TAPS; k++) {
      const tap = this.#viewAt(path.source, n - path.delay - FIRST_TAP - k, kind)
      if (!tap) return undefined
      taps.push(tap)
    }
    return taps
  }

  #viewAt(channel: number, n: number, kind?: 'cleaned'): SpectrumView | undefined {
    const found = this.#spectraAt(channel, n, kind)
    if (!found) return undefined
    return { re: found.spectra.re, im: found.spectra.im, offset: found.index * FILTER_BINS }
  }

  #energyAt(channel: number, n: number, kind?: 'cleaned'): number {
    const found = this.#spectraAt(channel, n, kind)
    return found ? found.spectra.energy[found.index]! : 0
  }

  /** Finds a spectrum of a channel; `n` counts from the start of the current block. */
  #spectraAt(channel: number, n: number, kind?: 'cleaned') {
    const position = Math.floor(n / CROSSTALK_BLOCK)
    const block = this.#blocks[position + 1]
    if (!block) return undefined
    const index = n - position * CROSSTALK_BLOCK
    const cleaned = kind && block.cleaned.get(channel)
    if (cleaned) return { spectra: cleaned, index }
    const known = block.spectra.get(channel)
    const spectra = known ?? spectraOf(block, channel)
    if (!known) block.spectra.set(channel, spectra)
    return { spectra, index }
  }
}

/** Returns by how much louder the crosstalk is around a spectrum than its prediction. */
function gainAt({ predicted, product }: Comparison, n: number): number {
  let [both, energy] = [0, TINY]
  for (let i = Math.max(0, n - NEAR); i <= Math.min(product.length - 1, n + NEAR); i++) {
    both += product[i]!
    energy += predicted[i]!
  }
  return Math.min(MAX_GAIN, Math.max(0, both / energy))
}

function keyOf({ source, target }: CrosstalkPath): string {
  return `${source} ${target}`
}
