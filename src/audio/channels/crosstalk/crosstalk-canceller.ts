import { mean } from '../../../numbers.ts'
import type { PlanarSamples } from '../../pcm.ts'
import {
  type Balance,
  CROSSTALK_BLOCK,
  CROSSTALK_FRAMES,
  type CrosstalkPath,
  FRAME_SAMPLES,
  minSourceGain,
} from './crosstalk.ts'
import { CrosstalkFilter, FILTER_TAPS } from './crosstalk-filter.ts'
import {
  addSpectrum,
  emptySpectrum,
  type FilterSpectrum,
  type SpectrumValues,
  samplesOf,
  spectrumOf,
  speechProduct,
  withEnergy,
} from './filter-spectra.ts'

/** The minimum energy of speech, -60 dB. */
const MIN_SPEECH_ENERGY = 0.26
/** How much what was learned so far counts beside the next block: paths change with time. */
const MEMORY = 0.9
/** The spectra (0.2 s) in which the level of crosstalk is the same. */
const LEVEL_SPECTRA = 7
/** Automatic gain control raises crosstalk by up to 12 dB. */
const MAX_GAIN = 4
/** What a source 15 dB quieter than the target leaks into it does no harm, and stays. */
const MIN_SOURCE_ENERGY = 0.03
/** A filter that explains half of the crosstalk is not replaced. */
const MAX_SHARE_LEFT = 0.5
/** At least a tenth of the crosstalk is taken to be left, although it may be less. */
const MIN_SHARE_LEFT = 0.1
/** The number of spectra that show what is left, at least and at most. */
const MIN_SHARES = 8
const MAX_SHARES = 96
/** Paths whose crosstalk is 10 dB quieter than that of the loudest one do no harm meanwhile. */
const MIN_PATH_SHARE = 0.1
const TINY = 1e-12

/**
 * The frames of a channel, by number, and their spectra; the n-th spectrum covers the frames n - 1
 * and n. `cleaned` are the spectra without crosstalk.
 */
type Channel = {
  frames: Map<number, Float32Array>
  spectra: Map<number, FilterSpectrum>
  cleaned: Map<number, FilterSpectrum>
  /** What to subtract from the next frame. */
  pending: Float32Array
}

/** A prediction of a spectrum, its energy, and its product with the target. */
type Prediction = { values: SpectrumValues; energy: number; product: number }

type PathFilter = {
  path: CrosstalkPath
  filter: CrosstalkFilter
  /** The next spectrum to learn. */
  next: number
  predictions: Map<number, Prediction | undefined>
  /** The shares of the crosstalk that were not predicted in the latest spectra to learn. */
  sharesLearned: number[]
  /** The shares of the crosstalk that were left in the latest spectra that show it. */
  sharesLeft: number[]
}

/**
 * A canceller of crosstalk between channels: it predicts from each channel what leaks into the
 * others and subtracts that, so that where two people talk at once, each channel keeps the speech
 * of its own.
 *
 * A filter for each path learns from the moments in which its source is the louder channel. It
 * predicts from the source without the crosstalk of others, or else the target's own speech, which
 * leaked into the source, would be subtracted from itself. The level of the prediction follows that
 * of the crosstalk, which changes with automatic gain control.
 */
export class CrosstalkCanceller {
  readonly #balance: Balance
  readonly #history: number
  readonly #channels: Channel[]
  readonly #filters = new Map<string, PathFilter>()
  /** The number of frames so far. */
  #count = 0
  /** The next frame to clean. */
  #next = 0
  /** The next spectrum without crosstalk to compute. */
  #uncleaned = 0

  /** A new path learns from the last `history` frames. */
  constructor(channels: number, { balance, history }: { balance: Balance; history: number }) {
    this.#balance = balance
    this.#history = history
    this.#channels = Array.from({ length: channels }, () => ({
      frames: new Map([[-1, new Float32Array(FRAME_SAMPLES)]]),
      spectra: new Map(),
      cleaned: new Map(),
      pending: new Float32Array(FRAME_SAMPLES),
    }))
  }

  /** Takes the next frames of all channels. */
  add(planes: PlanarSamples): void {
    const length = planes[0]!.length
    for (let start = 0; start < length; start += FRAME_SAMPLES, this.#count++) {
      for (const [channel, { frames, spectra, cleaned }] of this.#channels.entries()) {
        frames.set(this.#count, planes[channel]!.slice(start, start + FRAME_SAMPLES))
        const oldest = this.#count - this.#history
        frames.delete(oldest - 1)
        spectra.delete(oldest)
        cleaned.delete(oldest)
      }
    }
  }

  /** Learns from the frames since the last call how these and earlier paths leak. */
  learn(paths: readonly CrosstalkPath[]): void {
    for (const pathFilter of this.#filters.values()) this.#learn(pathFilter)
    for (const path of paths) this.#addPath(path)
  }

  /** Returns the next frame of all channels without crosstalk. */
  clean(): PlanarSamples {
    const frame = this.#next++
    this.#cleanSources(frame + 1 + LEVEL_SPECTRA + CROSSTALK_FRAMES)
    const crosstalk = new Map<number, SpectrumValues>()
    for (const pathFilter of this.#filters.values()) {
      const gain = this.#gainAt(pathFilter, frame + 1)
      const prediction = this.#predictionAt(pathFilter, frame + 1)
      if (!prediction) continue
      this.#measureLeft(pathFilter, { n: frame + 1, gain, prediction })
      const { target } = pathFilter.path
      const sum = crosstalk.get(target) ?? emptySpectrum()
      crosstalk.set(target, sum)
      addSpectrum(sum, prediction.values, gain)
    }
    return this.#channels.map((channel, index) => {
      const cleaned = channel.frames.get(frame)!.slice()
      for (let i = 0; i < FRAME_SAMPLES; i++) cleaned[i]! -= channel.pending[i]!
      channel.pending.fill(0)
      const sum = crosstalk.get(index)
      if (!sum) return cleaned
      const samples = samplesOf(sum)
      for (let i = 0; i < FRAME_SAMPLES; i++) cleaned[i]! -= samples[i]!
      channel.pending.set(samples.subarray(FRAME_SAMPLES))
      return cleaned
    })
  }

  /**
   * Cleans frames before the newest one again, at most `count`, with what is known now, and returns
   * them.
   */
  cleanAgain(count: number): PlanarSamples[] {
    const end = this.#count - 1
    const start = Math.max(0, end - count)
    // The first one also needs what the spectrum before it contributes.
    this.#next = Math.max(0, start - 1)
    this.#forgetCleaned()
    for (const { predictions } of this.#filters.values()) predictions.clear()
    if (this.#next < start) this.clean()
    return Array.from({ length: end - start }, () => this.clean())
  }

  #forgetCleaned(): void {
    for (const { cleaned } of this.#channels) cleaned.clear()
    this.#uncleaned = Math.max(0, this.#next - CROSSTALK_FRAMES - FILTER_TAPS)
  }

  /** Returns a path with the gains of what was left of its crosstalk in the latest frames. */
  pathLeft(path: CrosstalkPath): CrosstalkPath {
    const { sharesLeft } = this.#filters.get(keyOf(path))!
    const share = Math.min(1, Math.max(MIN_SHARE_LEFT, lowerQuartile(sharesLeft)))
    return { ...path, gains: path.gains.map((gain) => gain * share) }
  }

  #addPath(path: CrosstalkPath): void {
    const known = this.#filters.get(keyOf(path))
    // A filter also covers delays that are a little shorter or longer than its own.
    if (known && Math.abs(known.path.delay - path.delay) <= 1) return
    // The new delay may be wrong: a few similar sounds are enough to find one.
    if (known && lowerQuartile(known.sharesLearned) < MAX_SHARE_LEFT) return
    const pathFilter: PathFilter = {
      path,
      filter: new CrosstalkFilter(),
      next: Math.max(0, this.#count - this.#history),
      predictions: new Map(),
      sharesLearned: [],
      sharesLeft: [],
    }
    this.#filters.set(keyOf(path), pathFilter)
    this.#learn(pathFilter)
    this.#forgetCleaned()
  }

  #learn(pathFilter: PathFilter): void {
    const { path, filter } = pathFilter
    const end = Math.min(this.#count, this.#count + path.delay + this.#firstTap(path))
    for (; pathFilter.next < end; pathFilter.next++) {
      if (pathFilter.next % CROSSTALK_BLOCK === 0) filter.forget(MEMORY)
      const taps = this.#showsCrosstalk(path, pathFilter.next)
        ? this.#tapsAt(path, pathFilter.next)
        : undefined
      if (!taps) continue
      const target = this.#spectrumAt(path.target, pathFilter.next)!
      const predicted = filter.learn(target, taps)
      const explained = 2 * speechProduct(target, predicted) - speechProduct(predicted, predicted)
      pathFilter.sharesLearned.push(1 - explained / (target.energy + TINY))
      if (pathFilter.sharesLearned.length > MIN_SHARES) pathFilter.sharesLearned.shift()
    }
  }

  /** Returns whether the source of a path speaks, louder than its crosstalk may be. */
  #showsCrosstalk({ source, target, delay }: CrosstalkPath, n: number): boolean {
    const energy = this.#energyAt(source, n - delay)
    const minEnergy = minSourceGain(this.#balance(source, target)) * this.#energyAt(target, n)
    return energy >= Math.max(MIN_SPEECH_ENERGY, minEnergy)
  }

  /** Returns whether the source of a path is loud enough for its crosstalk to do harm. */
  #mayLeak({ source, target, delay }: CrosstalkPath, n: number, kind?: 'cleaned'): boolean {
    const energy = this.#energyAt(source, n - delay, kind)
    if (energy < MIN_SPEECH_ENERGY) return false
    const level = 10 ** (this.#balance(source, target) / 10)
    return level * energy >= MIN_SOURCE_ENERGY * this.#energyAt(target, n)
  }

  /** Computes the spectra before `end` without the crosstalk that they contain. */
  #cleanSources(end: number): void {
    for (; this.#uncleaned < Math.min(end, this.#count); this.#uncleaned++) {
      const n = this.#uncleaned
      const sums = new Map<number, SpectrumValues>()
      for (const { path, filter } of this.#loudestPaths(n)) {
        const taps = this.#tapsAt(path, n)
        const spectrum = taps && this.#spectrumAt(path.target, n)
        if (!spectrum) continue
        const sum = sums.get(path.target) ?? { re: spectrum.re.slice(), im: spectrum.im.slice() }
        sums.set(path.target, sum)
        filter.addPrediction(sum, taps, -1)
      }
      for (const [channel, sum] of sums) this.#channels[channel]!.cleaned.set(n, withEnergy(sum))
    }
  }

  /** Returns for each channel the paths with most of the crosstalk that it gets at a spectrum. */
  #loudestPaths(n: number): PathFilter[] {
    const loudest = new Float64Array(this.#channels.length)
    const leaking = [...this.#filters.values()].flatMap((pathFilter) => {
      const { path } = pathFilter
      if (!this.#mayLeak(path, n)) return []
      const energy = this.#energyAt(path.source, n - path.delay) * mean(path.gains)
      loudest[path.target] = Math.max(loudest[path.target]!, energy)
      return [{ pathFilter, energy }]
    })
    return leaking.flatMap(({ pathFilter, energy }) => {
      return energy >= MIN_PATH_SHARE * loudest[pathFilter.path.target]! ? [pathFilter] : []
    })
  }

  /** Returns by how much louder the crosstalk is around a spectrum than its prediction. */
  #gainAt(pathFilter: PathFilter, n: number): number {
    const last = Math.min(n + Math.floor(LEVEL_SPECTRA / 2), this.#count - 1)
    let [product, energy] = [0, TINY]
    for (let i = last - LEVEL_SPECTRA + 1; i <= last; i++) {
      const prediction = this.#predictionAt(pathFilter, i)
      product += prediction?.product ?? 0
      energy += prediction?.energy ?? 0
    }
    pathFilter.predictions.delete(last - LEVEL_SPECTRA)
    return Math.min(MAX_GAIN, Math.max(0, product / energy))
  }

  #predictionAt({ path, filter, predictions }: PathFilter, n: number): Prediction | undefined {
    if (predictions.has(n)) return predictions.get(n)
    const target = this.#spectrumAt(path.target, n)
    const taps =
      target && this.#mayLeak(path, n, 'cleaned') ? this.#tapsAt(path, n, 'cleaned') : undefined
    const values = taps && filter.predict(taps)
    const prediction = values && {
      values,
      energy: speechProduct(values, values),
      product: speechProduct(target!, values),
    }
    predictions.set(n, prediction)
    return prediction
  }

  /** Measures which share of the crosstalk is left in a spectrum, if it shows. */
  #measureLeft(
    { path, sharesLeft }: PathFilter,
    { n, gain, prediction }: { n: number; gain: number; prediction: Prediction },
  ): void {
    if (!this.#showsCrosstalk(path, n)) return
    const removed = gain * (2 * prediction.product - gain * prediction.energy)
    sharesLeft.push(1 - removed / (this.#energyAt(path.target, n) + TINY))
    if (sharesLeft.length > MAX_SHARES) sharesLeft.shift()
  }

  /** Returns the spectra of the source that explain the n-th one of the target, if known. */
  #tapsAt(path: CrosstalkPath, n: number, kind?: 'cleaned'): SpectrumValues[] | undefined {
    const taps: SpectrumValues[] = []
    for (let k = 0; k < FILTER_TAPS; k++) {
      const tap = this.#spectrumAt(path.source, n - path.delay - this.#firstTap(path) - k, kind)
      if (!tap) return undefined
      taps.push(tap)
    }
    return taps
  }

  /**
   * Returns the first spectrum of the source that explains one of its crosstalk: it begins 32 ms
   * before its delay.
   */
  #firstTap({ delay }: CrosstalkPath): number {
    return delay === 0 ? 0 : -1
  }

  #energyAt(channel: number, n: number, kind?: 'cleaned'): number {
    return this.#spectrumAt(channel, n, kind)?.energy ?? 0
  }

  #spectrumAt(channel: number, n: number, kind?: 'cleaned'): FilterSpectrum | undefined {
    const { frames, spectra, cleaned } = this.#channels[channel]!
    const known = (kind && cleaned.get(n)) ?? spectra.get(n)
    if (known) return known
    const [first, second] = [frames.get(n - 1), frames.get(n)]
    if (!first || !second) return undefined
    const spectrum = spectrumOf(first, second)
    spectra.set(n, spectrum)
    return spectrum
  }
}

/**
 * Returns the share of crosstalk in the quarter of spectra with the least: the others also contain
 * speech of the target. It is 1 if too few are known.
 */
function lowerQuartile(shares: readonly number[]): number {
  if (shares.length < MIN_SHARES) return 1
  return shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 4)]!
}

function keyOf({ source, target }: CrosstalkPath): string {
  return `${source} ${target}`
}
