import type { Planes } from '../pcm.ts'
import { createTransform } from './fourier.ts'
import {
  addPairSpectra,
  addSpectra,
  coherenceOf,
  createPairSpectra,
  delayOf,
  type PairSpectra,
  SPECTRUM_HOP,
  SPECTRUM_SAMPLES,
  type Spectrum,
  speechSpectra,
} from './spectra.ts'

/** Samples per frame (32 ms), as in the detection of speech. */
const FRAME = 512
/** Frames of one block of measurements: 5 s. A leak is measured in a block and its neighbors. */
export const LEAK_BLOCK = 156
/** A source is at least 6 dB louder than what leaks from it. */
const LOUDER = 4
/** Below -60 dB there is no speech to measure. */
const FLOOR = 3
/** Spectra that a measurement needs, and the coherence of a leak. */
const MIN_SPECTRA = 6
const COHERENT = 0.25
/** 100 ms: an echo through a telephone. */
const MAX_DELAY = 1600
/**
 * A frame holds speech of its own when 30% of its energy exceeds three times (5 dB) what leaks: the
 * energy of a leak varies so much with reverberation.
 */
const EXCESS = 3
const OWN_SHARE = 0.3
/** The energy of an echo falls to 60% in a frame, or faster. */
const DECAY = 0.6
/** Edges of the energy bands, 310 to 3400 Hz, as bins of a frame, and as those of a spectrum. */
const EDGES = [10, 16, 29, 48, 74, 109]
const SPECTRUM_EDGES = [3, 51, 155, 307, 515, 794]
const BANDS = EDGES.length - 1
const transformFrame = createTransform(FRAME)

type Measured = { spectra: PairSpectra; from: Float64Array; to: Float64Array }
/** What was measured of one block, for each ordered pair of channels. */
export type LeakMeasurement = Map<string, Measured>
/** A leak: `gains` are energies by band, `delay` is in frames. */
type Leak = { source: number; target: number; delay: number; gains: Float64Array }

/** Creates an empty measurement. */
export function createMeasurement(): LeakMeasurement {
  return new Map()
}

/**
 * Adds a spectrum of each channel. Only what is louder in one channel than in another tells what
 * leaks from it.
 */
export function measureLeaks(measurement: LeakMeasurement, planes: Planes): void {
  const spectra = speechSpectra(planes)
  const bands = spectra.map(spectrumBands)
  for (const [s, source] of spectra.entries()) {
    if (source.energy < FLOOR) continue
    for (const [t, target] of spectra.entries()) {
      if (s === t || source.energy < LOUDER * target.energy) continue
      const key = `${s} ${t}`
      const own = measurement.get(key) ?? {
        spectra: createPairSpectra(),
        from: new Float64Array(BANDS),
        to: new Float64Array(BANDS),
      }
      measurement.set(key, own)
      addSpectra(own.spectra, source, target)
      for (let b = 0; b < BANDS; b++) {
        own.from[b]! += bands[s]![b]!
        own.to[b]! += bands[t]![b]!
      }
    }
  }
}

/** Returns the leaks that some measurements show together. */
export function findLeaks(measurements: readonly LeakMeasurement[]): Leak[] {
  const keys = new Set(measurements.flatMap((one) => [...one.keys()]))
  return [...keys].flatMap((key) => {
    const spectra = createPairSpectra()
    const [from, to] = [new Float64Array(BANDS), new Float64Array(BANDS)]
    for (const measurement of measurements) {
      const own = measurement.get(key)
      if (!own) continue
      addPairSpectra(spectra, own.spectra)
      for (let b = 0; b < BANDS; b++) {
        from[b]! += own.from[b]!
        to[b]! += own.to[b]!
      }
    }
    if (spectra.count < MIN_SPECTRA) return []
    const samples = delayOf(spectra, MAX_DELAY)
    // The part of a spectrum in which both channels hold the same sound; coherence falls with it.
    const overlap = (1 - Math.abs(samples) / SPECTRUM_SAMPLES) ** 2
    const isCertain = spectra.count >= MIN_SPECTRA / overlap
    if (!isCertain || coherenceOf(spectra) < COHERENT * overlap) return []
    const [source, target] = key.split(' ').map(Number)
    const delay = Math.max(0, Math.round(samples / FRAME))
    const gains = from.map((energy, b) => (energy > 0 ? to[b]! / energy : 0))
    return [{ source: source!, target: target!, delay, gains }]
  })
}

function spectrumBands({ re, im }: Spectrum): Float64Array {
  return bandEnergies(re, im, SPECTRUM_EDGES)
}

function frameBands(frame: Float32Array): Float64Array {
  const re = Float64Array.from(frame)
  const im = new Float64Array(FRAME)
  transformFrame(re, im)
  return bandEnergies(re, im, EDGES)
}

function bandEnergies(re: Float64Array, im: Float64Array, edges: readonly number[]): Float64Array {
  return Float64Array.from({ length: BANDS }, (_, b) => {
    let sum = 0
    for (let i = edges[b]!; i < edges[b + 1]!; i++) sum += re[i]! ** 2 + im[i]! ** 2
    return sum
  })
}

/**
 * Tells, frame by frame, where a channel holds only what leaks from another: its energy is what the
 * louder channel predicts, in every band, with the gain and delay of the leak. Speech of its own
 * at the same time exceeds that.
 */
export function createLeakGate(channels: number) {
  const history: Float64Array[][] = []
  const longest = Math.ceil(MAX_DELAY / FRAME) + 2
  const echoes = new Map<string, Float64Array>()

  /** Takes the next frame of each channel; returns whether it is only a leak. */
  return function isLeaked(frames: readonly Float32Array[], leaks: readonly Leak[]): boolean[] {
    history.unshift(frames.map(frameBands))
    if (history.length > longest + 1) history.pop()
    const predicted = Array.from({ length: channels }, () => new Float64Array(BANDS))
    const louder = new Float64Array(channels)
    const seen = new Set<string>()
    for (const { source, target, delay, gains } of leaks) {
      const key = `${source} ${target}`
      seen.add(key)
      const echo = echoes.get(key) ?? new Float64Array(BANDS)
      echoes.set(key, echo)
      let total = 0
      for (let b = 0; b < BANDS; b++) {
        let peak = echo[b]! * DECAY
        for (let n = Math.max(0, delay - 1); n <= delay + 1; n++) {
          peak = Math.max(peak, history[n]?.[source]?.[b] ?? 0)
        }
        echo[b] = peak
        total += peak
        predicted[target]![b]! += peak * gains[b]!
      }
      louder[target] = Math.max(louder[target]!, total)
    }
    for (const key of echoes.keys()) if (!seen.has(key)) echoes.delete(key)
    return history[0]!.map((bands, channel) => {
      const energy = bands.reduce((sum, own) => sum + own, 0)
      if (louder[channel]! < LOUDER * energy || energy === 0) return false
      let own = 0
      for (let b = 0; b < BANDS; b++) {
        own += Math.max(0, bands[b]! - EXCESS * predicted[channel]![b]!)
      }
      return own < OWN_SHARE * energy
    })
  }
}

/** Where in a block of frames the spectra begin, as samples from the start of the block. */
export const LEAK_HOPS = Array.from(
  { length: Math.floor((LEAK_BLOCK * FRAME - SPECTRUM_SAMPLES) / SPECTRUM_HOP) + 1 },
  (_, i) => i * SPECTRUM_HOP,
)
