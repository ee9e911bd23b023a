import { createTransform } from '../../../audio/channels/fourier.ts'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'

/** Samples from frame to frame: 10 ms. */
const HOP = 160
const SIZE = 512
const BINS = SIZE / 2 + 1
/** The window, 25 ms, lies in the middle of the transformed samples. */
const WINDOW = 400
const MARGIN = (SIZE - WINDOW) / 2
const PREEMPHASIS = 0.97
const FLOOR = 2 ** -24
const SPREAD_FLOOR = 1e-5

/** `data`: mels × frames, one mel after the other. */
export type ParakeetFeatures = { data: Float32Array; frames: number }

/**
 * Creates the extractor of the features that NeMo models expect
 * (`AudioToMelSpectrogramPreprocessor`, taken from its export `nemo128.onnx`): pre-emphasis,
 * symmetric Hann window, power, mel bands after Slaney, natural logarithm, and each band scaled to
 * mean 0 and deviation 1 over the segment. There are floor(samples / 160) frames: with one more the
 * model loses the last words.
 *
 * On 10 s of speech the greatest difference to `nemo128.onnx` (onnx-asr 0.12.0) was 0.00004, in
 * deviations. The features of sherpa-onnx 1.13.8 differ by 0.3 typically and by 4.2 at most.
 */
export function createFeatureExtractor(mels: number): (audio: Float32Array) => ParakeetFeatures {
  const transform = createTransform(SIZE)
  const bands = melBands(mels)
  const hann = Float64Array.from({ length: WINDOW }, (_, i) => {
    return 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (WINDOW - 1))
  })
  const real = new Float64Array(SIZE)
  const imaginary = new Float64Array(SIZE)
  const powers = new Float64Array(BINS)

  return (audio) => {
    const frames = Math.floor(audio.length / HOP)
    const data = new Float32Array(mels * frames)
    for (let frame = 0; frame < frames; frame++) {
      real.fill(0)
      imaginary.fill(0)
      const from = frame * HOP - SIZE / 2 + MARGIN
      for (let i = Math.max(0, -from); i < WINDOW && from + i < audio.length; i++) {
        const before = from + i > 0 ? audio[from + i - 1]! : 0
        real[MARGIN + i] = (audio[from + i]! - PREEMPHASIS * before) * hann[i]!
      }
      transform(real, imaginary)
      for (let k = 0; k < BINS; k++) powers[k] = real[k]! ** 2 + imaginary[k]! ** 2
      for (const [mel, { first, weights }] of bands.entries()) {
        let sum = 0
        for (let k = 0; k < weights.length; k++) sum += weights[k]! * powers[first + k]!
        data[mel * frames + frame] = Math.log(sum + FLOOR)
      }
    }
    for (let mel = 0; mel < mels; mel++)
      normalizeBand(data.subarray(mel * frames, (mel + 1) * frames))
    return { data, frames }
  }
}

function normalizeBand(band: Float32Array): void {
  let sum = 0
  for (const value of band) sum += value
  const mean = sum / band.length
  let squares = 0
  for (const value of band) squares += (value - mean) ** 2
  const spread = Math.sqrt(squares / Math.max(1, band.length - 1)) + SPREAD_FLOOR
  for (let i = 0; i < band.length; i++) band[i] = (band[i]! - mean) / spread
}

/** The weights of one band, from a frequency bin on. */
type MelBand = { first: number; weights: Float64Array }

/** Triangles of equal area between points that are equally far apart on the mel scale. */
function melBands(mels: number): MelBand[] {
  const top = melOf(SAMPLE_RATE / 2)
  const edges = Array.from({ length: mels + 2 }, (_, i) => frequencyOf((top * i) / (mels + 1)))
  return Array.from({ length: mels }, (_, mel) => {
    const [low, center, high] = [edges[mel]!, edges[mel + 1]!, edges[mel + 2]!]
    const bin = SAMPLE_RATE / SIZE
    const first = Math.ceil(low / bin)
    const last = Math.min(BINS - 1, Math.floor(high / bin))
    const weights = Float64Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => {
      const frequency = (first + k) * bin
      const rising = (frequency - low) / (center - low)
      const falling = (high - frequency) / (high - center)
      return (2 / (high - low)) * Math.max(0, Math.min(rising, falling))
    })
    return { first, weights }
  })
}

/** Slaney's scale: linear to 1 kHz, logarithmic above. */
const LINEAR = 200 / 3
const BREAK = 1000
const STEP = Math.log(6.4) / 27

function melOf(frequency: number): number {
  if (frequency < BREAK) return frequency / LINEAR
  return BREAK / LINEAR + Math.log(frequency / BREAK) / STEP
}

function frequencyOf(mel: number): number {
  const knee = BREAK / LINEAR
  return mel < knee ? mel * LINEAR : BREAK * Math.exp(STEP * (mel - knee))
}
