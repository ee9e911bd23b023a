/**
 * One process of sherpa-onnx with the weights of Moonshine base, one thread: prints a line of text
 * per file. Arguments: voice detector, tokens, encoder, decoder, part of each file, files.
 */
import { createRequire } from 'node:module'
import { readPieces } from './read-pieces.ts'

type Stream = { acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void }
type Recognizer = {
  createStream(): Stream
  decode(stream: Stream): void
  getResult(stream: Stream): { text: string }
}
type Sherpa = { OfflineRecognizer: new (config: unknown) => Recognizer }

const [voiceDetector, tokens, encoder, mergedDecoder, part, ...files] = process.argv.slice(2)
const { OfflineRecognizer } = createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa
const recognizer = new OfflineRecognizer({
  featConfig: { sampleRate: 16_000, featureDim: 80 },
  modelConfig: { moonshine: { encoder, mergedDecoder }, tokens, numThreads: 1, debug: 0 },
})
for (const file of files) {
  const texts = readPieces(file, part!, voiceDetector!).map((samples) => {
    const stream = recognizer.createStream()
    stream.acceptWaveform({ samples, sampleRate: 16_000 })
    recognizer.decode(stream)
    return recognizer.getResult(stream).text
  })
  console.log(texts.join(' '))
}
