import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ByteFile, openBytes } from '../../../model-files/weight-files/byte-file.ts'
import { asFields, isCount } from '../../../model-files/weight-files/fields.ts'
import {
  type ArrayEntry,
  type Rows,
  readFloats,
  readHeader,
} from '../../../model-files/weight-files/safetensors.ts'
import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import { huggingFaceNames } from './hugging-face-names.ts'
import { readModelJson } from './token-vocabulary.ts'
import type { WeightFile } from './weights.ts'

const FILE_NAME = /^\w[\w.-]*$/

type Configuration = { encoder_attention_heads: unknown; decoder_attention_heads: unknown }

/**
 * Opens the Whisper model of a Hugging Face folder: `model.safetensors`, or the files that
 * `model.safetensors.index.json` names, with floats of 32 or 16 bits. The format is that of
 * https://github.com/huggingface/safetensors: the length of a JSON header, the header with type,
 * shape and place of each array, the arrays. Returns undefined when the folder has none; throws
 * `WeightFileError` when it is damaged or no Whisper model.
 */
export function openSafetensors(folder: string): WeightFile | undefined {
  const names = listFiles(folder)
  if (names.length === 0) return undefined
  const files: ByteFile[] = []
  const entries = new Map<string, ArrayEntry>()
  const close = () => {
    for (const file of files) file.close()
  }
  try {
    for (const name of names) {
      const path = join(folder, name)
      if (!existsSync(path)) throw new WeightFileError(`${path} is missing`)
      const file = openBytes(path)
      files.push(file)
      // Array names of fine-tuned models may lack the prefix `model.`.
      for (const [array, entry] of readHeader(file))
        entries.set(array.replace(/^model\./, ''), entry)
    }
    return { ...asWhisper(entries, folder), close }
  } catch (error) {
    close()
    throw error
  }
}

function listFiles(folder: string): string[] {
  const index = join(folder, 'model.safetensors.index.json')
  const { weight_map } = readModelJson<{ weight_map: unknown }>(index)
  if (weight_map) {
    const names = [...new Set(Object.values(asFields(weight_map)))]
    // A name from a download must not refer to a file outside the folder.
    if (names.every((name) => typeof name === 'string' && FILE_NAME.test(name))) {
      return names as string[]
    }
    throw new WeightFileError(`${index} names files that no folder of weights has`)
  }
  return existsSync(join(folder, 'model.safetensors')) ? ['model.safetensors'] : []
}

/** Provides the arrays of Hugging Face under the names and in the layout of CTranslate2. */
function asWhisper(entries: Map<string, ArrayEntry>, folder: string): Omit<WeightFile, 'close'> {
  const configuration = readModelJson<Configuration>(join(folder, 'config.json'))
  const heads: Record<string, unknown> = {
    'encoder/num_heads': configuration.encoder_attention_heads,
    'decoder/num_heads': configuration.decoder_attention_heads,
  }
  const need = (name: string) => {
    const entry = entries.get(name)
    if (!entry) throw new WeightFileError(`${folder} is not a Whisper model: it has no ${name}`)
    return entry
  }
  const sizes = (name: string): readonly number[] | undefined => {
    const [first = '', ...others] = huggingFaceNames(name)
    // Keys have no bias, so the last of several arrays is checked too.
    const entry = entries.get(first) ?? entries.get(others.at(-1) ?? '')
    return entry && [(entry.sizes[0] ?? 1) * (1 + others.length), ...entry.sizes.slice(1)]
  }
  const read = (name: string, rows?: Rows): Float32Array => {
    if (name in heads) {
      if (!isCount(heads[name]))
        throw new WeightFileError(`${folder} has no config.json of a Whisper model`)
      return Float32Array.of(heads[name])
    }
    const parts = huggingFaceNames(name)
    const partEntries = parts.map((part) => entries.get(part))
    const shape = sizes(name)
    if (!shape) return readFloats(need(parts[0] ?? name), undefined)
    const rowsPerPart = shape[0]! / parts.length
    const [from, to] = rows ?? [0, shape[0]!]
    const row = shape.slice(1).reduce((product, n) => product * n, 1)
    const values = new Float32Array((to - from) * row)
    for (const [i, entry] of partEntries.entries()) {
      const [low, high] = [Math.max(from, i * rowsPerPart), Math.min(to, (i + 1) * rowsPerPart)]
      if (low >= high || (!entry && name.endsWith('/bias'))) continue
      const part = readFloats(entry ?? need(parts[i]!), [
        low - i * rowsPerPart,
        high - i * rowsPerPart,
      ])
      if (part.length !== (high - low) * row) {
        throw new WeightFileError(`${folder} has parts of different sizes for ${name}`)
      }
      values.set(part, (low - from) * row)
    }
    return values
  }
  return { sizes, read }
}
