import { createPowerSpectrum } from './power-spectrum.ts'

/** How audio is framed and split into bands; frequencies in Hz. */
export type MelFormat = { sampleRate: number; bins: number; low: number; high: number }

/** Consecutive frames: `bins` log energies each, and the log energy of the whole frame. */
export type LogMel = { frames: number; mel: Float32Array; energy: Float32Array }

/** Length of a frame, and the step from one to the next, in seconds. */
const [FRAME, STEP] = [0.025, 0.01]
const PREEMPHASIS = 0.97
/** Kaldi computes on 16-bit samples. */
const FULL_SCALE = 32_768
/**
 * The power of Kaldi's dither: it adds noise of one 16-bit step, and models are trained with it.
 * Here its mean power is added instead, so that results are repeatable. Without it, the digital
 * silence of a gated call has values that no model was trained on: they raised the equal error rate
 * at 1.5 s from 4 % to 20 %; with it, to 4.7 %.
 */
const DITHER_POWER = 1

/** Returns the length of a frame and the step from one to the next, in samples. */
export function frameSizes(sampleRate: number): { length: number; step: number } {
  return { length: Math.round(sampleRate * FRAME), step: Math.round(sampleRate * STEP) }
}

/** Returns the number of whole frames in `samples` samples: Kaldi's "snip edges". */
export function framesIn(samples: number, sampleRate: number): number {
  const { length, step } = frameSizes(sampleRate)
  return Math.max(0, Math.floor((samples - length) / step) + 1)
}

/**
 * Creates a function that computes the log mel energies of samples from -1 to 1. They equal those
 * of Kaldi's compute-fbank-feats except for the dither (feature-window.cc, mel-computations.cc):
 * mean removed, energy taken, pre-emphasis, Povey window, power spectrum, triangular bands.
 */
export function createLogMel(format: MelFormat): (samples: Float32Array) => LogMel {
  const { sampleRate, bins } = format
  const { length, step } = frameSizes(sampleRate)
  const size = 2 ** Math.ceil(Math.log2(length))
  const window = poveyWindow(length)
  const bands = melBands(format, size)
  const powerSpectrum = createPowerSpectrum(size)
  const noise = bandNoise(bands, window, size)
  const frame = new Float64Array(size)
  const power = new Float64Array(size / 2)

  /** Fills `frame`; returns the energy before pre-emphasis. */
  function prepare(samples: Float32Array, start: number): number {
    let sum = 0
    for (let i = 0; i < length; i++) sum += samples[start + i]!
    const mean = sum / length
    let energy = 0
    let before = samples[start]! - mean
    for (let i = 0; i < length; i++) {
      const sample = samples[start + i]! - mean
      energy += sample * sample
      frame[i] = (sample - PREEMPHASIS * before) * FULL_SCALE * window[i]!
      before = sample
    }
    return energy * FULL_SCALE * FULL_SCALE + DITHER_POWER * length
  }

  return (samples) => {
    const frames = framesIn(samples.length, sampleRate)
    const mel = new Float32Array(frames * bins)
    const energy = new Float32Array(frames)
    for (let t = 0; t < frames; t++) {
      energy[t] = Math.log(prepare(samples, t * step))
      powerSpectrum(frame, power)
      for (const [bin, { first, weights }] of bands.entries()) {
        let sum = noise[bin]!
        for (let i = 0; i < weights.length; i++) sum += weights[i]! * power[first + i]!
        mel[t * bins + bin] = Math.log(sum)
      }
    }
    return { frames, mel, energy }
  }
}

/** Returns a Hann window to the power of 0.85, which goes to zero at its ends. */
function poveyWindow(length: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => {
    return (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (length - 1))) ** 0.85
  })
}

/** Spectrum bins from `first` on, each with its weight. */
type MelBand = { first: number; weights: Float64Array }

/**
 * Returns triangles evenly spaced in mel, each from the peak of the previous to the peak of the
 * next.
 */
function melBands({ sampleRate, bins, low, high }: MelFormat, size: number): MelBand[] {
  const [from, to] = [melOf(low), melOf(high)]
  const delta = (to - from) / (bins + 1)
  const mels = Array.from({ length: size / 2 }, (_, k) => melOf((k * sampleRate) / size))
  return Array.from({ length: bins }, (_, bin) => {
    const peak = from + (bin + 1) * delta
    const weights = mels.map((mel) => Math.max(0, 1 - Math.abs(mel - peak) / delta))
    const first = weights.findIndex((weight) => weight > 0)
    const last = weights.findLastIndex((weight) => weight > 0)
    if (first < 0) throw new RangeError(`no frequency falls into band ${bin} of ${bins}`)
    return { first, weights: Float64Array.from(weights.slice(first, last + 1)) }
  })
}

/** Returns the power that the dither would add to each band, after pre-emphasis and window. */
function bandNoise(bands: readonly MelBand[], window: Float64Array, size: number): number[] {
  const power = DITHER_POWER * window.reduce((sum, weight) => sum + weight * weight, 0)
  return bands.map(({ first, weights }) => {
    return weights.reduce((sum, weight, i) => {
      const turn = Math.cos((2 * Math.PI * (first + i)) / size)
      return sum + weight * power * (1 + PREEMPHASIS ** 2 - 2 * PREEMPHASIS * turn)
    }, 0)
  })
}

function melOf(frequency: number): number {
  return 1127 * Math.log(1 + frequency / 700)
}
