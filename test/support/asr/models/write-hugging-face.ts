import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { huggingFaceNames } from '../../../../src/asr/engines/whisper/weights/hugging-face-names.ts'
import { halfOf, type RandomModel, size, vocabulary } from './random-whisper.ts'

type Stored = { type: 'F32' | 'F16' | 'BF16'; files: 1 | 2; prefix: string }
type Array2 = { name: string; sizes: number[]; data: Buffer }

/** Writes a model in the form of Hugging Face: weights, configuration, generation, vocabulary. */
export function writeHuggingFace(folder: string, model: RandomModel, stored: Stored): void {
  mkdirSync(folder, { recursive: true })
  const arrays = [...model].flatMap(([name, { sizes, values }]): Array2[] => {
    if (name.endsWith('num_heads')) return []
    const names = huggingFaceNames(name)
    const each = values.length / names.length
    return names.flatMap((part, i) => {
      if (part.endsWith('k_proj.bias')) return []
      const data = encode(values.subarray(i * each, (i + 1) * each), stored.type)
      return [
        {
          name: stored.prefix + part,
          sizes: [sizes[0]! / names.length, ...sizes.slice(1)],
          data,
        },
      ]
    })
  })
  const write = (file: string, part: readonly Array2[]) => {
    writeFileSync(join(folder, file), safetensors(part, stored.type))
  }
  if (stored.files === 1) {
    write('model.safetensors', arrays)
  } else {
    const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    const half = Math.floor(arrays.length / 2)
    write(first, arrays.slice(0, half))
    write(second, arrays.slice(half))
    const weight_map = Object.fromEntries(
      arrays.map(({ name }, i) => [name, i < half ? first : second]),
    )
    json(folder, 'model.safetensors.index.json', { weight_map })
  }
  const [encoder_attention_heads, decoder_attention_heads] = [size.heads, size.heads]
  json(folder, 'config.json', { encoder_attention_heads, decoder_attention_heads })
  json(folder, 'generation_config.json', {
    alignment_heads: [
      [1, 1],
      [0, 0],
    ],
    is_multilingual: true,
    lang_to_id: { '<|en|>': 7, '<|de|>': 8 },
    suppress_tokens: [1],
    begin_suppress_tokens: [4, 5],
  })
  // As the hub has it: the text tokens in one file, the special ones in another, no timestamps.
  const end = vocabulary.indexOf('<|endoftext|>')
  const named = vocabulary.map((token, id) => [token, id] as const)
  json(folder, 'vocab.json', Object.fromEntries(named.slice(0, end + 1)))
  const special = named.slice(end + 1, vocabulary.indexOf('<|0.00|>'))
  json(folder, 'added_tokens.json', Object.fromEntries(special))
}

function json(folder: string, file: string, value: unknown): void {
  writeFileSync(join(folder, file), JSON.stringify(value))
}

function safetensors(arrays: readonly Array2[], type: string): Buffer {
  let at = 0
  const entries = arrays.map(({ name, sizes, data }) => {
    const data_offsets = [at, at + data.length]
    at += data.length
    return [name, { dtype: type, shape: sizes, data_offsets }] as const
  })
  const header = { __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) }
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text, ...arrays.map(({ data }) => data)])
}

function encode(values: Float32Array, type: Stored['type']): Buffer {
  const copy = Float32Array.from(values)
  if (type === 'F32') return Buffer.from(copy.buffer)
  if (type === 'F16') return Buffer.from(Uint16Array.from(values, halfOf).buffer)
  const upper = new Uint32Array(copy.buffer).map((bits) => bits >>> 16)
  return Buffer.from(Uint16Array.from(upper).buffer)
}
