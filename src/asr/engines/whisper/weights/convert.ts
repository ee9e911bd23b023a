import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import { startGraph } from '../graphs/graph-writer.ts'
import { writeDecoder } from '../graphs/write-decoder.ts'
import { writeEncoder } from '../graphs/write-encoder.ts'
import type { WhisperConfig } from '../whisper-config.ts'
import { openCTranslate2 } from './ctranslate2.ts'
import { openSafetensors } from './hugging-face-weights.ts'
import { inspectWhisperModel } from './inspect-model.ts'
import type { WeightFile } from './weights.ts'

/** Options of a conversion. */
export type WhisperConversion = {
  signal: AbortSignal
  /** Called with the completed share, 0 to 1. */
  onProgress?: (done: number) => void
  /** `int8` by default; `fp32` is four times as large and only for checks. */
  precision?: WhisperConfig['weights']
}

/**
 * Converts a Whisper model from the form in which it is published to ours: reads a folder with the
 * files of CTranslate2 (`model.bin`) or of Hugging Face (`model.safetensors`) and writes
 * `encoder.onnx`, `decoder.onnx`, their `.weights`, `vocabulary.json` and, last, `whisper.json` to
 * `target`. Computes for up to a second at a time, so it belongs in no server process. Throws
 * `WeightFileError`, whose message is for users, when the folder holds no Whisper model or a
 * damaged one; `target` then holds an incomplete model.
 */
export async function convertWhisper(
  source: string,
  target: string,
  { signal, onProgress, precision = 'int8' }: WhisperConversion,
): Promise<void> {
  const weights = openWeights(source)
  try {
    const { config, vocabulary } = inspectWhisperModel(source, weights)
    const fullConfig: WhisperConfig = { ...config, weights: precision }
    await mkdir(target, { recursive: true })
    const layers = fullConfig.encoderLayers + fullConfig.decoderLayers
    let done = 0
    const layerDone = async () => {
      onProgress?.(++done / layers)
      await setImmediate()
      signal.throwIfAborted()
    }
    for (const [file, write] of [
      ['encoder.onnx', writeEncoder],
      ['decoder.onnx', writeDecoder],
    ] as const) {
      signal.throwIfAborted()
      const graph = startGraph(join(target, file))
      try {
        await write({ graph, weights, precision, layerDone }, fullConfig)
      } finally {
        graph.close()
      }
    }
    await writeFile(join(target, 'vocabulary.json'), JSON.stringify(vocabulary))
    await writeFile(join(target, 'whisper.json'), `${JSON.stringify(fullConfig, undefined, 2)}\n`)
  } finally {
    weights.close()
  }
}

function openWeights(folder: string): WeightFile {
  const ctranslate2 = join(folder, 'model.bin')
  if (existsSync(ctranslate2)) return openCTranslate2(ctranslate2)
  const safetensors = openSafetensors(folder)
  if (safetensors) return safetensors
  throw new WeightFileError('The folder has no Whisper weights (model.bin or model.safetensors)')
}
