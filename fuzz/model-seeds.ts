import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { writeModel } from '../src/asr/onnx/onnx.ts'
import { describeModel } from '../src/asr/onnx/onnx-graph.ts'
import { addMetadata } from '../test/support/asr/models/add-onnx-metadata.ts'
import { randomModel, writeCTranslate2 } from '../test/support/asr/models/random-whisper.ts'
import { writeHuggingFace } from '../test/support/asr/models/write-hugging-face.ts'

/**
 * A Whisper model with one encoder layer and one decoder layer: it has every kind of array and few
 * bytes.
 */
export const smallModel = new Map([...randomModel()].filter(([name]) => !name.includes('layer_1/')))

const configuration = { suppress_tokens: [1], lang_to_id: { '<|en|>': 7 }, is_multilingual: true }

/** Writes the small model in the form of CTranslate2. */
export function writeTranslated(folder: string): void {
  writeCTranslate2(folder, smallModel, 'int8')
  writeJson(folder, 'config.json', { ...configuration, alignment_heads: [[0, 1]] })
}

/** Writes the small model in the form of Hugging Face, with a vocabulary in two files. */
export function writePublished(folder: string): void {
  writeHuggingFace(folder, smallModel, { type: 'F16', files: 1, prefix: 'model.' })
  writeJson(folder, 'generation_config.json', { ...configuration, alignment_heads: [[0, 1]] })
  const names = [...smallModel.keys()].slice(0, 3)
  const weight_map = Object.fromEntries(names.map((name) => [name, 'model.safetensors']))
  writeJson(folder, 'model.safetensors.index.json', { weight_map })
  const added_tokens = [{ id: 15, content: '<|0.00|>' }]
  writeJson(folder, 'tokenizer.json', { model: { vocab: { a: 0 } }, added_tokens })
}

/** Writes the files that identify a sherpa-onnx model, and returns their paths. */
export function writeSherpa(folder: string): { onnx: string; tokens: string } {
  mkdirSync(folder)
  const onnx = join(folder, 'model.onnx')
  writeModel(onnx, describeModel({ name: 'x', nodes: [], constants: [], inputs: [], outputs: [] }))
  addMetadata(onnx, { model_type: 'zipformer2_ctc', vocab_size: 3 })
  const tokens = join(folder, 'tokens.txt')
  writeFileSync(tokens, '<blk> 0\n\u2581a 1\nb 2\n')
  return { onnx, tokens }
}

/** The record of a stored model. */
export const storedRecord = {
  id: 'a',
  kind: 'recognition',
  engine: 'whisper',
  languages: ['en'],
  license: 'MIT',
  revision: '1',
  memoryBytes: 1,
  files: { 'a.bin': { bytes: 1, sha256: 'ab' } },
}

/** The members of `zipArchive`. */
export const members = ['a', 'b']

/** A zip archive with a packed and a stored member, whose headers have only what is read. */
export function zipArchive(): Buffer {
  const content = Buffer.from('content '.repeat(20))
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [i, name] of members.entries()) {
    const method = i === 0 ? 8 : 0
    const packed = method === 8 ? deflateRawSync(content) : content
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(name.length, 26)
    files.push(head, Buffer.from(name), packed)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    directory.push(entry, Buffer.from(name))
    at += head.length + name.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...files, listed, end])
}

function writeJson(folder: string, file: string, value: unknown): void {
  writeFileSync(join(folder, file), JSON.stringify(value))
}
