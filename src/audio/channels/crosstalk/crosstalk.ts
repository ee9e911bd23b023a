import { sum } from '../../../numbers.ts'
import type { PlanarSamples } from '../../pcm.ts'
import { createTransform } from '../fourier.ts'
import {
  addPairSpectra,
  addSpectra,
  type Band,
  coherenceOf,
  createPairSpectra,
  delayOf,
  type PairSpectra,
  SPECTRUM_HOP,
  SPECTRUM_SAMPLES,
  SPEECH_BANDS,
  type Spectrum,
  speechSpectra,
} from '../spectra.ts'

/** Samples per frame (32 ms), as in voice activity detection. */
export const FRAME_SAMPLES = 512
/** Frames of one block of measurements: 5 s. Crosstalk is measured in a block and its neighbors. */
export const CROSSTALK_BLOCK = 156
/** A source is at least 6 dB louder than its crosstalk. */
const MIN_SOURCE_GAIN = 4
/** The minimum energy of a spectrum, -60 dB: below, there is too little speech to measure. */
const MIN_SPEECH_ENERGY = 3
/** The minimum number of spectra of a measurement, and the minimum coherence of crosstalk. */
const MIN_SPECTRA = 6
const MIN_COHERENCE = 0.25
/** The longest delay that one spectrum shows without a lag: 100 ms. */
const MAX_DELAY = 1600
/**
 * Spectra are also compared at these lags, in hops of 64 ms, to find crosstalk up to 1.05 s later:
 * an echo through a mobile, Internet or satellite line. Crosstalk precedes its source if the
 * channels were recorded separately and combined with an offset.
 */
const LAGS = [0, 2, 4, 6, 8, 10, 12, 14, 16]
const EARLIER_LAGS = LAGS.slice(1).map((lag) => -lag)
/** At longer lags than this, which are rare, only every second spectrum is compared. */
const DENSE_LAG = 6
/** With a lag, only delays up to this one are compared; other lags cover the longer ones. */
const MAX_LAGGED_DELAY = 1024
/** Frames by which crosstalk may come later than its source, or earlier (1.12 s). */
export const CROSSTALK_FRAMES = 35
/** Frames on either side (0.2 s) whose energy decides whether a frame is silenced. */
const NEARBY_FRAMES = 6
/**
 * A frame contains speech of its own when 30 % of its energy exceeds three times (5 dB) the
 * predicted crosstalk, whose energy varies that much with reverberation.
 */
const OWN_SPEECH_RATIO = 3
const OWN_SHARE = 0.3
/** The energy of an echo falls to 60 % or less from frame to frame. */
const DECAY = 0.6
/** The bands of speech as bins of a frame. */
const FRAME_BANDS: readonly Band[] = [
  [10, 16],
  [16, 29],
  [29, 48],
  [48, 74],
  [74, 109],
]
const BANDS = FRAME_BANDS.length
/** By how much the difference of neighboring samples amplifies each bin of a frame. */
const DIFFERENCE_GAINS = Float64Array.from({ length: FRAME_SAMPLES / 2 }, (_, bin) => {
  return 2 * Math.sin((Math.PI * bin) / FRAME_SAMPLES)
})
const transformFrame = createTransform(FRAME_SAMPLES)
type PairMeasurement = { spectra: PairSpectra; from: Float64Array; to: Float64Array }
/** The measurements of one block, for each ordered pair of channels. */
export type CrosstalkMeasurement = Map<string, PairMeasurement>
/**
 * Speech that leaks from a source channel to a target. `gains` are energy ratios by band; `delay`
 * is in frames.
 */
export type CrosstalkPath = { source: number; target: number; delay: number; gains: Float64Array }
/**
 * Returns by how many decibels the second of two channels was recorded louder; 0 if that is
 * unknown.
 */
export type Balance = (first: number, second: number) => number
const evenBalance: Balance = () => 0

/** Creates an empty measurement. */
export function createMeasurement(): CrosstalkMeasurement {
  return new Map()
}

/** Adds the next spectrum of each channel to a measurement, and returns these spectra. */
export type CrosstalkMeter = (
  measurement: CrosstalkMeasurement,
  planes: PlanarSamples,
) => readonly Spectrum[]

/**
 * Creates a meter that gets its spectra in order, every `SPECTRUM_HOP` samples. Only speech that is
 * louder in one channel than in another shows what leaks from it. `findsEarlier` is for channels
 * whose crosstalk may precede its source.
 */
export function createCrosstalkMeter({
  findsEarlier,
  balance = evenBalance,
}: {
  findsEarlier: boolean
  balance?: Balance
}): CrosstalkMeter {
  const lags = findsEarlier ? [...LAGS, ...EARLIER_LAGS] : LAGS
  const history: { spectra: Spectrum[]; bands: Float64Array[] }[] = []
  let isOdd = false
  return (measurement, planes) => {
    isOdd = !isOdd
    const spectra = speechSpectra(planes)
    history.unshift({ spectra, bands: spectra.map(spectrumBands) })
    if (history.length > LAGS.at(-1)! + 1) history.pop()
    for (const lag of lags) {
      const [from, to] = [history[Math.max(0, lag)], history[Math.max(0, -lag)]]
      if (!from || !to || (isOdd && Math.abs(lag) > DENSE_LAG)) continue
      for (const [sourceIndex, source] of from.spectra.entries()) {
        if (source.energy < MIN_SPEECH_ENERGY) continue
        for (const [targetIndex, target] of to.spectra.entries()) {
          if (
            sourceIndex === targetIndex ||
            source.energy < minSourceGain(balance(sourceIndex, targetIndex)) * target.energy
          )
            continue
          const measured = pairMeasurementOf(measurement, `${sourceIndex} ${targetIndex} ${lag}`)
          addSpectra(measured.spectra, source, target)
          addBands(measured, from.bands[sourceIndex]!, to.bands[targetIndex]!)
        }
      }
    }
    return spectra
  }
}

/**
 * Returns the factor by which a source must exceed its crosstalk in energy, corrected by the
 * recording gains in decibels.
 */
export function minSourceGain(balance: number): number {
  return MIN_SOURCE_GAIN * 10 ** (-balance / 10)
}

function pairMeasurementOf(measurement: CrosstalkMeasurement, key: string): PairMeasurement {
  const existingMeasurement = measurement.get(key)
  if (existingMeasurement) return existingMeasurement
  const bands = () => new Float64Array(BANDS)
  const created = { spectra: createPairSpectra(), from: bands(), to: bands() }
  measurement.set(key, created)
  return created
}

function addBands({ from, to }: PairMeasurement, source: Float64Array, target: Float64Array): void {
  for (let b = 0; b < BANDS; b++) {
    from[b]! += source[b]!
    to[b]! += target[b]!
  }
}

/**
 * Returns the crosstalk that the measurements show together, at most one path for each ordered pair
 * of channels.
 */
export function findCrosstalk(measurements: readonly CrosstalkMeasurement[]): CrosstalkPath[] {
  const keys = new Set(measurements.flatMap((measurement) => [...measurement.keys()]))
  const best = new Map<string, { path: CrosstalkPath; coherence: number }>()
  for (const key of keys) {
    const crosstalkPath = findCrosstalkOfPair(key, measurements)
    if (!crosstalkPath) continue
    const pair = `${crosstalkPath.path.source} ${crosstalkPath.path.target}`
    if (crosstalkPath.coherence > (best.get(pair)?.coherence ?? 0)) best.set(pair, crosstalkPath)
  }
  return [...best.values()].map(({ path }) => path)
}

/** Returns the crosstalk that the measurements show for one pair of channels, at one lag. */
function findCrosstalkOfPair(key: string, measurements: readonly CrosstalkMeasurement[]) {
  const [source = 0, target = 0, lag = 0] = key.split(' ').map(Number)
  const sums: CrosstalkMeasurement = new Map()
  const { spectra, from, to } = pairMeasurementOf(sums, key)
  for (const measurement of measurements) {
    const measured = measurement.get(key)
    if (!measured) continue
    addPairSpectra(spectra, measured.spectra)
    addBands({ spectra, from, to }, measured.from, measured.to)
  }
  if (spectra.count < MIN_SPECTRA) return undefined
  const maxDelay = lag === 0 ? MAX_DELAY : MAX_LAGGED_DELAY
  const coherence = coherenceOf(spectra)
  // Most channels are unrelated at most lags: a transform for their delay would be wasted.
  if (coherence < MIN_COHERENCE * overlapAfter(maxDelay)) return undefined
  const samples = delayOf(spectra, maxDelay)
  const overlap = overlapAfter(samples)
  const isCertain = spectra.count >= MIN_SPECTRA / overlap
  if (!isCertain || coherence < MIN_COHERENCE * overlap) return undefined
  const delay = Math.round((lag * SPECTRUM_HOP + samples) / FRAME_SAMPLES)
  const gains = from.map((energy, b) => (energy > 0 ? to[b]! / energy : 0))
  return { path: { source, target, delay, gains }, coherence }
}

/**
 * Returns the share of a spectrum that holds the same sound on both channels if one lags behind the
 * other by `samples`; coherence falls with it.
 */
function overlapAfter(samples: number): number {
  return (1 - Math.abs(samples) / SPECTRUM_SAMPLES) ** 2
}

function spectrumBands({ re, im }: Spectrum): Float64Array {
  return bandEnergies(re, im, SPEECH_BANDS)
}

/** The energy of a frame, by band. */
export type FrameBands = Float64Array

/**
 * Returns the energies of a frame, by band. Frames are short and not windowed, so hum below the
 * bands would leak into them. A first-order difference weakens these low tones, and the bins are
 * amplified again.
 */
export function frameBands(frame: Float32Array): FrameBands {
  const re = new Float64Array(FRAME_SAMPLES)
  const im = new Float64Array(FRAME_SAMPLES)
  for (let i = 1; i < FRAME_SAMPLES; i++) re[i] = frame[i]! - frame[i - 1]!
  transformFrame(re, im)
  for (let bin = 1; bin < FRAME_SAMPLES / 2; bin++) {
    re[bin]! /= DIFFERENCE_GAINS[bin]!
    im[bin]! /= DIFFERENCE_GAINS[bin]!
  }
  return bandEnergies(re, im, FRAME_BANDS)
}

function bandEnergies(re: Float64Array, im: Float64Array, bands: readonly Band[]): Float64Array {
  return Float64Array.from(bands, ([from, to]) => {
    let sum = 0
    for (let i = from; i < to; i++) sum += re[i]! ** 2 + im[i]! ** 2
    return sum
  })
}

/**
 * Takes the next frame of each channel; returns which channels had only crosstalk a number of
 * frames before. `examined` is that earlier frame if something was changed in it since.
 */
export type CrosstalkGate = (
  frames: readonly FrameBands[],
  paths: readonly CrosstalkPath[],
  examined?: readonly FrameBands[],
) => boolean[]

/**
 * Creates a function that detects, frame by frame, channels with nothing but crosstalk: their
 * energy is what the louder channel predicts, in every band, with the gain and delay of the
 * crosstalk. Their own speech at the same time would exceed that. Results are delayed by `ahead`
 * frames, because crosstalk may precede its source by that many.
 */
export function createCrosstalkGate(
  channels: number,
  { ahead = 0, balance = evenBalance } = {},
): CrosstalkGate {
  const history: (readonly FrameBands[])[] = []
  const maxHistory = ahead + CROSSTALK_FRAMES + 1
  const echoes = new Map<string, Float64Array>()

  return (frames, paths, examined) => {
    history.unshift(frames)
    if (history.length > maxHistory + 1) history.pop()
    const predicted = Array.from({ length: channels }, () => new Float64Array(BANDS))
    /** For each channel, the energy of its sources, in multiples of `minSourceGain`. */
    const sourceEnergy = new Float64Array(channels)
    const seenKeys = new Set<string>()
    for (const { source, target, delay, gains } of paths) {
      const key = `${source} ${target}`
      seenKeys.add(key)
      const echo = echoes.get(key) ?? new Float64Array(BANDS)
      echoes.set(key, echo)
      let total = 0
      for (let b = 0; b < BANDS; b++) {
        let peak = echo[b]! * DECAY
        const at = Math.max(0, ahead + delay)
        for (let n = Math.max(0, at - 1); n <= at + 1; n++) {
          peak = Math.max(peak, history[n]?.[source]?.[b] ?? 0)
        }
        echo[b] = peak
        total += peak
        predicted[target]![b]! += peak * gains[b]!
      }
      const relative = total / minSourceGain(balance(source, target))
      sourceEnergy[target] = Math.max(sourceEnergy[target]!, relative)
    }
    for (const key of echoes.keys()) if (!seenKeys.has(key)) echoes.delete(key)
    const current = examined ?? history[ahead] ?? history[0]!.map(() => new Float64Array(BANDS))
    return current.map((bands, channel) => {
      const energy = sum(bands)
      if (sourceEnergy[channel]! < energy || energy === 0) return false
      let excess = 0
      for (let b = 0; b < BANDS; b++) {
        excess += Math.max(0, bands[b]! - OWN_SPEECH_RATIO * predicted[channel]![b]!)
      }
      return excess < OWN_SHARE * energy
    })
  }
}

/**
 * Returns which frames of a channel to silence: those with only crosstalk, unless the channel's own
 * speech dominates the 0.4 s around. Where two people talk at once, cutting words does more harm
 * than crosstalk.
 */
export function framesToSilence(
  energies: readonly number[],
  isCrosstalk: readonly boolean[],
): boolean[] {
  // Positive where a frame is crosstalk.
  const signed = energies.map((energy, n) => (isCrosstalk[n] ? energy : -energy))
  return signed.map((_, n) => {
    const near = signed.slice(Math.max(0, n - NEARBY_FRAMES), n + NEARBY_FRAMES + 1)
    return isCrosstalk[n]! && sum(near) > 0
  })
}

/** The starts of the spectra in a block of frames, in samples from the start of the block. */
export const SPECTRUM_STARTS = Array.from(
  { length: Math.floor((CROSSTALK_BLOCK * FRAME_SAMPLES - SPECTRUM_SAMPLES) / SPECTRUM_HOP) + 1 },
  (_, i) => i * SPECTRUM_HOP,
)
