import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

type Vad = {
  acceptWaveform(samples: Float32Array): void
  flush(): void
  isEmpty(): boolean
  front(): { samples: Float32Array }
  pop(): void
}
type SherpaVad = { Vad: new (config: unknown, bufferSeconds: number) => Vad }

const SAMPLE_RATE = 16_000
/** The longest pieces that the model was trained on. */
const MAX_SECONDS = 15
const HEADER_BYTES = 44
const WINDOW = 512

/**
 * Reads part `at` of `of` of a WAVE file of ours, and cuts it at pauses with the voice detection of
 * sherpa-onnx when it is too long for the model.
 */
export function readPieces(file: string, part: string, voiceDetector: string): Float32Array[] {
  const [at = 0, of = 1] = part.split('/').map(Number)
  const { buffer, byteOffset, byteLength } = readFileSync(file)
  const all = new Int16Array(buffer.slice(byteOffset + HEADER_BYTES, byteOffset + byteLength))
  const ownSamples = all.subarray((all.length * at) / of, (all.length * (at + 1)) / of)
  const samples = Float32Array.from(ownSamples, (sample) => sample / 32_768)
  return samples.length <= MAX_SECONDS * SAMPLE_RATE ? [samples] : cut(samples, voiceDetector)
}

function cut(samples: Float32Array, model: string): Float32Array[] {
  const { Vad } = createRequire(import.meta.url)('sherpa-onnx-node') as SherpaVad
  const sileroVad = { model, threshold: 0.5, maxSpeechDuration: MAX_SECONDS, windowSize: WINDOW }
  const vad = new Vad({ sileroVad, sampleRate: SAMPLE_RATE, numThreads: 1 }, 60)
  const pieces: Float32Array[] = []
  const take = () => {
    for (; !vad.isEmpty(); vad.pop()) pieces.push(vad.front().samples)
  }
  for (let from = 0; from + WINDOW <= samples.length; from += WINDOW) {
    vad.acceptWaveform(samples.subarray(from, from + WINDOW))
    take()
  }
  vad.flush()
  take()
  return pieces
}
