import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A named array: its sizes and values. */
export type NamedArray = { sizes: number[]; values: Float32Array }
/** A model by the names of CTranslate2. */
export type RandomModel = Map<string, NamedArray>

/** Sizes of the random model: small, but of every kind that a real one has. */
export const size = {
  hidden: 64,
  heads: 2,
  inner: 96,
  layers: 2,
  mels: 8,
  audioPositions: 20,
  textPositions: 16,
}

/** Five letters, then the special tokens in the order of the real vocabularies. */
export const vocabulary = [
  ...['a', 'b', 'c', 'Ġd', 'Ġ'],
  ...['<|endoftext|>', '<|startoftranscript|>', '<|en|>', '<|de|>', '<|translate|>'],
  ...['<|transcribe|>', '<|startoflm|>', '<|startofprev|>', '<|nospeech|>', '<|notimestamps|>'],
  ...['<|0.00|>', '<|0.02|>', '<|0.04|>'],
]

/** Creates the same random weights each time. */
export function randomModel(): RandomModel {
  let state = 12_345
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31 - 0.5
  }
  const model: RandomModel = new Map()
  const add = (name: string, sizes: number[], spread: number, center = 0) => {
    const count = sizes.reduce((product, n) => product * n, 1)
    // Half floats hold these values exactly.
    const values = Float32Array.from({ length: count }, () => {
      return center + Math.round(random() * spread * 1024) / 1024
    })
    model.set(name, { sizes, values })
  }
  const linear = (name: string, outputs: number, inputs: number) => {
    add(`${name}/weight`, [outputs, inputs], 0.5)
    add(`${name}/bias`, [outputs], 0.3)
  }
  const norm = (name: string) => {
    add(`${name}/gamma`, [size.hidden], 0.4, 1)
    add(`${name}/beta`, [size.hidden], 0.3)
  }
  const { hidden, inner, mels } = size
  for (const [i, inputs] of [mels, hidden].entries()) {
    add(`encoder/conv${i + 1}/weight`, [hidden, inputs, 3], 0.6)
    add(`encoder/conv${i + 1}/bias`, [hidden], 0.3)
  }
  for (const side of ['encoder', 'decoder']) {
    for (let layer = 0; layer < size.layers; layer++) {
      const name = `${side}/layer_${layer}`
      norm(`${name}/self_attention/layer_norm`)
      linear(`${name}/self_attention/linear_0`, 3 * hidden, hidden)
      // Keys have no bias.
      model.get(`${name}/self_attention/linear_0/bias`)!.values.fill(0, hidden, 2 * hidden)
      linear(`${name}/self_attention/linear_1`, hidden, hidden)
      norm(`${name}/ffn/layer_norm`)
      linear(`${name}/ffn/linear_0`, inner, hidden)
      linear(`${name}/ffn/linear_1`, hidden, inner)
      if (side === 'encoder') continue
      norm(`${name}/attention/layer_norm`)
      linear(`${name}/attention/linear_0`, hidden, hidden)
      linear(`${name}/attention/linear_1`, 2 * hidden, hidden)
      model.get(`${name}/attention/linear_1/bias`)!.values.fill(0, 0, hidden)
      linear(`${name}/attention/linear_2`, hidden, hidden)
    }
    norm(`${side}/layer_norm`)
    const positions = side === 'encoder' ? size.audioPositions : size.textPositions
    add(`${side}/position_encodings/encodings`, [positions, hidden], 0.5)
    model.set(`${side}/num_heads`, { sizes: [], values: Float32Array.of(size.heads) })
  }
  add('decoder/embeddings/weight', [vocabulary.length, hidden], 1)
  return model
}

/** How the arrays of products are stored; all others are floats, as in published files. */
export type StoredType = 'float32' | 'float16' | 'int8'

/** Writes a model in the form of CTranslate2 (form 6), with its configuration and vocabulary. */
export function writeCTranslate2(folder: string, model: RandomModel, stored: StoredType): void {
  const parts: Buffer[] = [u32(6), text('WhisperSpec'), u32(3)]
  const entries: Buffer[] = []
  for (const [name, array] of model) {
    const product = array.sizes.length === 2 && name.endsWith('/weight')
    const kind = name.endsWith('num_heads') ? 'int16' : product ? stored : 'float32'
    entries.push(...storedArrays(name, array, kind))
  }
  parts.push(u32(entries.length), ...entries, u32(1))
  parts.push(text('decoder/projection/weight'), text('decoder/embeddings/weight'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'model.bin'), Buffer.concat(parts))
  writeFileSync(join(folder, 'vocabulary.json'), JSON.stringify(vocabulary))
  const alignment_heads = [
    [1, 1],
    [0, 0],
  ]
  const configuration = { alignment_heads, suppress_ids: [1], suppress_ids_begin: [4, 5] }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration))
}

function storedArrays(
  name: string,
  { sizes, values }: NamedArray,
  kind: StoredType | 'int16',
): Buffer[] {
  const entry = (label: string, dims: number[], type: number, data: Buffer) => {
    const shape = [Buffer.of(dims.length), ...dims.map(u32), Buffer.of(type)]
    return Buffer.concat([text(label), ...shape, u32(data.length), data])
  }
  const bytes = (array: { buffer: ArrayBufferLike }) => Buffer.from(array.buffer)
  if (kind === 'int16') return [entry(name, sizes, 2, bytes(Int16Array.from(values)))]
  if (kind === 'float16') return [entry(name, sizes, 4, bytes(Uint16Array.from(values, halfOf)))]
  if (kind === 'float32') return [entry(name, sizes, 0, bytes(values))]
  const [rows = 0, width = 0] = sizes
  const scales = Float32Array.from({ length: rows }, (_, row) => {
    return 127 / Math.max(...values.subarray(row * width, (row + 1) * width).map(Math.abs))
  })
  const steps = Int8Array.from(values, (v, i) => Math.round(v * scales[Math.floor(i / width)]!))
  return [entry(name, sizes, 1, bytes(steps)), entry(`${name}_scale`, [rows], 0, bytes(scales))]
}

/** The half float of a value that one holds exactly. */
export function halfOf(value: number): number {
  if (value === 0) return 0
  const sign = value < 0 ? 0x8000 : 0
  const exponent = Math.floor(Math.log2(Math.abs(value)))
  return sign | ((exponent + 15) << 10) | Math.round((Math.abs(value) / 2 ** exponent - 1) * 1024)
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function text(value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16LE(value.length + 1)
  return Buffer.concat([length, Buffer.from(`${value}\0`, 'latin1')])
}
