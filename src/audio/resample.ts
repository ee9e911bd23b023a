import { joinSamples } from './pcm.ts'
import { convolve, type Filter, storeFilter } from './resample/convolve.ts'

/** A streaming resampler of one channel: converts samples to the target rate. */
export type Resampler = {
  write(samples: Float32Array): Float32Array<ArrayBuffer>
  /** Returns the remaining output; nothing may be written afterwards. */
  flush(): Float32Array<ArrayBuffer>
}

/**
 * The filter is a windowed sinc; its lengths are in samples of the lower of the two rates. At 16
 * kHz: 0.06 dB down at 7 kHz, more than 80 dB from 8 kHz on, so that a model does not notice the
 * aliasing.
 */
const HALF_WIDTH = 38
const CUTOFF = 0.464_375
const KAISER_BETA = 8.2

/**
 * Maximum number of filter phases for one ratio. Only rates above 64 kHz without a common divisor
 * with 16 kHz need more: they use the nearest one, an error 80 dB below the signal.
 */
const MAX_PHASES = 4096
const EXACT_UP_TO = 64_000

/**
 * Creates a streaming resampler. Sample 0 of the output is sample 0 of the input, n samples become
 * round(n × to / from), and the result does not depend on where the input is split into writes.
 */
export function createResampler(from: number, to: number): Resampler {
  if (from === to) {
    return { write: (samples) => samples.slice(), flush: () => new Float32Array(0) }
  }
  const filter = filterFor(from, to)
  const half = filter.taps / 2
  const divisor = gcd(from, to)
  const step = { numerator: from / divisor, denominator: to / divisor }

  // `buffer[0]` is input sample `written - buffer.length`; the filter sees zeros before the first.
  let buffer = new Float32Array(half - 1)
  let written = 0
  let produced = 0
  let position = { start: 0, part: 0 }

  function write(samples: Float32Array): Float32Array<ArrayBuffer> {
    buffer = joinSamples(buffer.subarray(position.start), samples)
    position = { start: 0, part: position.part }
    written += samples.length
    return produce(Number.POSITIVE_INFINITY)
  }

  function produce(limit: number): Float32Array<ArrayBuffer> {
    const { numerator, denominator } = step
    const starts = Math.max(0, buffer.length - filter.taps - position.start + 1)
    const possible = Math.ceil((starts * denominator - position.part) / numerator)
    const count = Math.max(0, Math.min(possible, limit))
    const { output, next } = convolve(buffer, { filter, step, count }, position)
    position = next
    produced += count
    return output
  }

  function flush(): Float32Array<ArrayBuffer> {
    const remaining = Math.round((written * to) / from) - produced
    buffer = joinSamples(buffer.subarray(position.start), new Float32Array(half))
    position = { start: 0, part: position.part }
    return produce(remaining)
  }

  return { write, flush }
}

/** The filters by ratio, which live sessions share. Each takes a few hundred kilobytes. */
const filters = new Map<string, Filter>()

function filterFor(from: number, to: number): Filter {
  const key = `${from}:${to}`
  const known = filters.get(key)
  if (known) return known
  const filter = buildFilter(from, to)
  filters.set(key, filter)
  return filter
}

/** Returns the filter taps: one row per position of an output sample between two input samples. */
function buildFilter(from: number, to: number): Filter {
  const lower = Math.min(from, to)
  const width = (HALF_WIDTH * from) / lower
  const half = 2 * Math.ceil(width / 2) // four taps at a time
  const exact = to / gcd(from, to)
  const phases = from > EXACT_UP_TO ? Math.min(exact, MAX_PHASES) : exact
  const cutoff = (CUTOFF * lower) / from
  const rows = new Float32Array((phases + 1) * 2 * half)
  for (let phase = 0; phase <= phases; phase++) {
    const row = rows.subarray(phase * 2 * half, (phase + 1) * 2 * half)
    for (let tap = 0; tap < row.length; tap++) {
      const time = tap - (half - 1) - phase / phases
      row[tap] = sinc(2 * cutoff * time) * kaiser(time / width)
    }
    const sum = row.reduce((total, tap) => total + tap, 0)
    for (let tap = 0; tap < row.length; tap++) row[tap]! /= sum
  }
  return storeFilter(rows, { phases, taps: 2 * half })
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : besselI0(KAISER_BETA * Math.sqrt(1 - x * x)) / besselI0(KAISER_BETA)
}

/** Modified Bessel function of order 0, by its power series. */
function besselI0(x: number): number {
  let sum = 1
  for (let term = 1, k = 1; term > 1e-12 * sum; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

/** Returns the greatest common divisor. */
export function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}
