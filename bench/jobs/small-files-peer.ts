/**
 * One process of the peer of small-files.bench.ts: sherpa-onnx with the weights of Moonshine base,
 * one thread, one WAVE file after the other. Arguments: encoder, decoder, tokens, files.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

type Stream = { acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void }
type Recognizer = {
  createStream(): Stream
  decode(stream: Stream): void
  getResult(stream: Stream): { text: string }
}
type Sherpa = { OfflineRecognizer: new (config: unknown) => Recognizer }

const [encoder, mergedDecoder, tokens, ...files] = process.argv.slice(2)
const { OfflineRecognizer } = createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa
const recognizer = new OfflineRecognizer({
  featConfig: { sampleRate: 16_000, featureDim: 80 },
  modelConfig: { moonshine: { encoder, mergedDecoder }, tokens, numThreads: 1, debug: 0 },
})
for (const file of files) {
  const { buffer, byteOffset, byteLength } = readFileSync(file)
  const whole = new Int16Array(buffer.slice(byteOffset + 44, byteOffset + byteLength))
  const stream = recognizer.createStream()
  stream.acceptWaveform({
    samples: Float32Array.from(whole, (s) => s / 32_768),
    sampleRate: 16_000,
  })
  recognizer.decode(stream)
  console.log(recognizer.getResult(stream).text)
}
