import { createMixedTransform } from '../../../audio/channels/fourier.ts'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'

/** Samples from frame to frame: 10 ms at 16 kHz. */
export const HOP = 160
const WINDOW = 400
const WINDOW_FACTORS = [4, 4, 5, 5] as const
const BINS = WINDOW / 2 + 1
/** Values are raised to at least the loudest one minus this, in powers of ten. */
const RANGE = 8

/** Log-mel features of one segment: mels × frames, mel by mel; a frame is 10 ms. */
export type MelFeatures = { data: Float32Array; frames: number }

/** Computes `frames` frames of audio (16 kHz, -1 to 1); silence follows where the audio ends. */
export type FeatureExtractor = (audio: Float32Array, frames: number) => MelFeatures

/**
 * Creates the extractor of Whisper's log-mel features (openai/whisper `audio.py`): periodic Hann
 * window of 25 ms, power, `mels` triangles after Slaney up to 8 kHz, logarithm, range limited and
 * scaled.
 */
export function createFeatureExtractor(mels: number): FeatureExtractor {
  const filters = melFilters(mels)
  const transform = createMixedTransform(WINDOW_FACTORS)
  const hann = Float64Array.from({ length: WINDOW }, (_, i) => {
    return 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW)
  })
  const real = new Float64Array(WINDOW)
  const imaginary = new Float64Array(WINDOW)

  const load = (to: Float64Array, audio: Float32Array, frame: number) => {
    const from = frame * HOP - WINDOW / 2
    for (let i = 0; i < WINDOW; i++) to[i] = (audio[Math.abs(from + i)] ?? 0) * hann[i]!
  }

  return (audio, frames) => {
    const data = new Float32Array(mels * frames).fill(-10)
    const filled = Math.min(frames, Math.ceil((audio.length + WINDOW / 2) / HOP))
    const powers = [new Float64Array(BINS), new Float64Array(BINS)] as const
    // Two frames at once: one as the real part, one as the imaginary part.
    for (let frame = 0; frame < filled; frame += 2) {
      load(real, audio, frame)
      load(imaginary, audio, frame + 1)
      transform(real, imaginary)
      separatePowers(real, imaginary, powers)
      for (let i = 0; i < 2 && frame + i < frames; i++) {
        for (const [mel, { first, weights }] of filters.entries()) {
          let sum = 0
          for (let k = 0; k < weights.length; k++) sum += weights[k]! * powers[i]![first + k]!
          data[mel * frames + frame + i] = Math.log10(Math.max(sum, 1e-10))
        }
      }
    }
    return { data: scaled(data), frames }
  }
}

/** Powers of two real signals that were transformed as one complex signal. */
function separatePowers(
  real: Float64Array,
  imaginary: Float64Array,
  [first, second]: readonly [Float64Array, Float64Array],
): void {
  for (let k = 0; k < BINS; k++) {
    const mirrored = (WINDOW - k) % WINDOW
    const a = real[k]!
    const b = imaginary[k]!
    const c = real[mirrored]!
    const d = imaginary[mirrored]!
    first[k] = ((a + c) ** 2 + (b - d) ** 2) / 4
    second[k] = ((b + d) ** 2 + (a - c) ** 2) / 4
  }
}

function scaled(data: Float32Array): Float32Array {
  let max = Number.NEGATIVE_INFINITY
  for (const value of data) if (value > max) max = value
  const min = max - RANGE
  for (let i = 0; i < data.length; i++) data[i] = (Math.max(data[i]!, min) + 4) / 4
  return data
}

/** The weights of one mel band, from a frequency bin on. */
type Filter = { first: number; weights: Float64Array }

function melFilters(mels: number): Filter[] {
  const top = melOf(SAMPLE_RATE / 2)
  const edges = Array.from({ length: mels + 2 }, (_, i) => hertzOf((top * i) / (mels + 1)))
  return Array.from({ length: mels }, (_, mel) => {
    const [low, center, high] = [edges[mel]!, edges[mel + 1]!, edges[mel + 2]!]
    const all = Array.from({ length: BINS }, (_, bin) => {
      const hertz = (bin * SAMPLE_RATE) / WINDOW
      const height = Math.min((hertz - low) / (center - low), (high - hertz) / (high - center))
      return (Math.max(0, height) * 2) / (high - low)
    })
    const first = all.findIndex((weight) => weight > 0)
    const last = all.findLastIndex((weight) => weight > 0)
    const weights = first < 0 ? [] : all.slice(first, last + 1)
    return { first: Math.max(0, first), weights: Float64Array.from(weights) }
  })
}

/** Slaney's mel scale: linear up to 1 kHz, logarithmic above. */
const LINEAR_HERTZ = 200 / 3
const LOG_FROM = 1000
const LOG_STEP = Math.log(6.4) / 27

function melOf(hertz: number): number {
  if (hertz < LOG_FROM) return hertz / LINEAR_HERTZ
  return LOG_FROM / LINEAR_HERTZ + Math.log(hertz / LOG_FROM) / LOG_STEP
}

function hertzOf(mel: number): number {
  const linear = mel * LINEAR_HERTZ
  return linear < LOG_FROM
    ? linear
    : LOG_FROM * Math.exp((mel - LOG_FROM / LINEAR_HERTZ) * LOG_STEP)
}
