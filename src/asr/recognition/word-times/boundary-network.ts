import { readFileSync } from 'node:fs'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { createLogMel, type LogMel } from '../../speakers/features/log-mel.ts'
import type { BoundarySounds } from './boundary-sounds.ts'

/** Seconds from one candidate of a boundary to the next; a frame of the spectrum is as long. */
const STEP = 0.01
/** Candidates on each side of where a word seems to start. */
const REACH = 15
/** The number of candidates. */
export const CANDIDATES = 2 * REACH + 1
const BANDS = 16
/** The frames, counted from a candidate, between the spans that the network sees around it. */
const EDGES = [-8, -4, -2, 0, 2, 4, 8]
/** Numbers that the network gets for a candidate. */
export const INPUTS = (EDGES.length - 1) * BANDS
/** Kinds of sounds before a boundary, and as many after it. */
export const SOUNDS = 8
/** What is added to the deviation of a band, so that silence is not enlarged. */
const MIN_DEVIATION = 0.1

/**
 * A network of one hidden layer that says how likely a word starts at each candidate. Matrices are
 * stored row by row: `spectrum` is INPUTS × hidden, `sounds` SOUNDS × hidden, `soundOffsets` SOUNDS
 * × CANDIDATES.
 */
export type BoundaryNetwork = Record<
  'spectrum' | 'sounds' | 'bias' | 'output' | 'offsets' | 'soundOffsets',
  Float32Array
>

/** The spectrum of a segment, as running sums of its normalized frames, each of `BANDS` numbers. */
export type Spectrum = { frames: number; sums: Float64Array }

const logMel = createLogMel({ sampleRate: SAMPLE_RATE, bins: BANDS, low: 60, high: 7600 })

/** Computes the spectrum of 16 kHz audio; each band has the mean 0 and about the deviation 1. */
export function spectrumOf(audio: Float32Array): Spectrum {
  return normalize(logMel(audio))
}

function normalize({ frames, mel }: LogMel): Spectrum {
  const sums = new Float64Array((frames + 1) * BANDS)
  for (let band = 0; band < BANDS; band++) {
    let total = 0
    let squares = 0
    for (let t = 0; t < frames; t++) {
      const value = mel[t * BANDS + band]!
      total += value
      squares += value * value
    }
    const mean = total / Math.max(1, frames)
    const variance = Math.max(0, squares / Math.max(1, frames) - mean * mean)
    const deviation = Math.sqrt(variance) + MIN_DEVIATION
    for (let t = 0; t < frames; t++) {
      const value = (mel[t * BANDS + band]! - mean) / deviation
      sums[(t + 1) * BANDS + band] = sums[t * BANDS + band]! + value
    }
  }
  return { frames, sums }
}

/**
 * Returns what the network sees of the candidates around `time`, in seconds: CANDIDATES × INPUTS
 * numbers, the mean of each band in each span. Outside of the segment they are 0.
 */
export function candidateInputs({ frames, sums }: Spectrum, time: number): Float32Array {
  const inputs = new Float32Array(CANDIDATES * INPUTS)
  const first = Math.round(time / STEP) - REACH - 1
  let at = 0
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    for (let span = 0; span + 1 < EDGES.length; span++) {
      const from = Math.min(frames, Math.max(0, first + candidate + EDGES[span]!))
      const to = Math.min(frames, Math.max(0, first + candidate + EDGES[span + 1]!))
      const length = Math.max(1, to - from)
      for (let band = 0; band < BANDS; band++) {
        inputs[at++] = (sums[to * BANDS + band]! - sums[from * BANDS + band]!) / length
      }
    }
  }
  return inputs
}

/** What the network computed for the candidates: its hidden values, and their probabilities. */
export type Scores = { hidden: Float32Array; probabilities: Float32Array }

/** Returns how likely the word starts at each candidate. */
export function scoreCandidates(
  network: BoundaryNetwork,
  inputs: Float32Array,
  sounds: BoundarySounds,
): Scores {
  const width = network.bias.length
  const hidden = new Float32Array(CANDIDATES * width)
  const probabilities = new Float32Array(CANDIDATES)
  const start = network.bias.slice()
  for (const sound of sounds) {
    for (let i = 0; i < width; i++) start[i]! += network.sounds[sound * width + i]!
  }
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    const own = hidden.subarray(candidate * width, (candidate + 1) * width)
    own.set(start)
    for (let input = 0; input < INPUTS; input++) {
      const value = inputs[candidate * INPUTS + input]!
      const row = input * width
      for (let i = 0; i < width; i++) own[i]! += value * network.spectrum[row + i]!
    }
    let score = network.offsets[candidate]!
    for (const sound of sounds) score += network.soundOffsets[sound * CANDIDATES + candidate]!
    for (let i = 0; i < width; i++) {
      own[i] = Math.tanh(own[i]!)
      score += own[i]! * network.output[i]!
    }
    probabilities[candidate] = score
  }
  return { hidden, probabilities: softmax(probabilities) }
}

function softmax(scores: Float32Array): Float32Array {
  const max = scores.reduce((a, b) => Math.max(a, b))
  const powers = scores.map((score) => Math.exp(score - max))
  const total = powers.reduce((a, b) => a + b)
  return powers.map((power) => power / total)
}

/**
 * Returns the seconds from the middle candidate to the median of the probabilities, which has the
 * least expected error.
 */
export function medianOffset(probabilities: Float32Array): number {
  let before = 0
  let candidate = 0
  while (candidate < CANDIDATES - 1 && before + probabilities[candidate]! < 0.5) {
    before += probabilities[candidate++]!
  }
  const within = Math.min(1, (0.5 - before) / Math.max(probabilities[candidate]!, 1e-9))
  return (candidate - REACH - 0.5 + within) * STEP
}

/** Returns the seconds from the middle candidate to another. */
export function offsetOf(candidate: number): number {
  return (candidate - REACH) * STEP
}

/** Reads the network that `npm run bench -- word-boundaries` wrote. */
export function readBoundaryNetwork(): BoundaryNetwork {
  const path = new URL('boundary-network.json', import.meta.url)
  const stored = JSON.parse(readFileSync(path, 'utf8')) as Record<keyof BoundaryNetwork, number[]>
  const matrices = Object.entries(stored).map(([name, numbers]) => [
    name,
    Float32Array.from(numbers),
  ])
  return Object.fromEntries(matrices) as BoundaryNetwork
}
