import { joinSamples } from './pcm.ts'

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
  const { half, phases, rows } = kernelFor(from, to)
  const taps = 2 * half
  const divisor = gcd(from, to)
  const [numerator, denominator] = [from / divisor, to / divisor]
  const wholeStep = Math.floor(numerator / denominator)
  const partStep = numerator % denominator

  // `buffer[0]` is input sample `written - buffer.length`; the filter sees zeros before the first.
  let buffer = new Float32Array(half - 1)
  let written = 0
  let produced = 0
  // The next output lies `part / denominator` after the sample whose filter starts at
  // buffer[start].
  let start = 0
  let part = 0

  function write(samples: Float32Array): Float32Array<ArrayBuffer> {
    buffer = joinSamples(buffer.subarray(start), samples)
    start = 0
    written += samples.length
    return produce(Number.POSITIVE_INFINITY)
  }

  function produce(limit: number): Float32Array<ArrayBuffer> {
    const capacity = Math.ceil(((buffer.length - start) * denominator) / numerator) + 1
    const output = new Float32Array(Math.max(0, Math.min(capacity, limit)))
    let count = 0
    while (count < output.length && start + taps <= buffer.length) {
      const row = phases === denominator ? part : Math.round((part * phases) / denominator)
      output[count++] = convolve(rows, row * taps, buffer, start, taps)
      part += partStep
      start += wholeStep
      if (part >= denominator) {
        part -= denominator
        start++
      }
    }
    produced += count
    return output.subarray(0, count)
  }

  function flush(): Float32Array<ArrayBuffer> {
    const remaining = Math.round((written * to) / from) - produced
    buffer = joinSamples(buffer.subarray(start), new Float32Array(half))
    start = 0
    return produce(remaining)
  }

  return { write, flush }
}

/**
 * Returns the sum of filter taps times samples. Uses four sums, which the processor adds in
 * parallel; their order does not depend on how the input is split.
 */
function convolve(
  rows: Float32Array,
  row: number,
  input: Float32Array,
  start: number,
  taps: number,
): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = start
  for (let i = row; i < row + taps; i += 4, at += 4) {
    a += rows[i]! * input[at]!
    b += rows[i + 1]! * input[at + 1]!
    c += rows[i + 2]! * input[at + 2]!
    d += rows[i + 3]! * input[at + 3]!
  }
  return a + b + c + d
}

type Kernel = { half: number; phases: number; rows: Float32Array }

/** The kernels by ratio, which live sessions share. Each takes a few hundred kilobytes. */
const kernels = new Map<string, Kernel>()

function kernelFor(from: number, to: number): Kernel {
  const key = `${from}:${to}`
  const cachedKernel = kernels.get(key)
  if (cachedKernel) return cachedKernel
  const kernel = buildKernel(from, to)
  kernels.set(key, kernel)
  return kernel
}

/** Returns the filter taps: one row per position of an output sample between two input samples. */
function buildKernel(from: number, to: number): Kernel {
  const lower = Math.min(from, to)
  const width = (HALF_WIDTH * from) / lower
  const half = 2 * Math.ceil(width / 2) // the unrolled sum takes four taps at a time
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
  return { half, phases, rows }
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
