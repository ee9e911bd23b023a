import assert from 'node:assert/strict'
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  randomModel,
  vocabulary,
  writeCTranslate2,
} from '../../../../../test/support/asr/models/random-whisper.ts'
import { writeHuggingFace } from '../../../../../test/support/asr/models/write-hugging-face.ts'
import type { WhisperConfig } from '../whisper-config.ts'
import { convertWhisper } from './convert.ts'
import { openCTranslate2 } from './ctranslate2.ts'

const { signal } = new AbortController()
const model = randomModel()
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steno-convert-'))
  writeCTranslate2(join(folder, 'ctranslate2'), model, 'float32')
  await convertWhisper(join(folder, 'ctranslate2'), join(folder, 'converted'), { signal })
})

after(() => rm(folder, { recursive: true }))

function readConverted(name: string, file: string): Buffer {
  return readFileSync(join(folder, name, file))
}

function assertSame(name: string): void {
  for (const file of ['encoder.weights', 'decoder.weights', 'encoder.onnx', 'decoder.onnx']) {
    const same = readConverted(name, file).equals(readConverted('converted', file))
    assert.ok(same, `${name}/${file}`)
  }
  for (const file of ['whisper.json', 'vocabulary.json']) {
    const [found, expected] = [name, 'converted'].map((at) => `${readConverted(at, file)}`)
    assert.equal(found, expected)
  }
}

test('the converted config holds sizes, tokens, languages and suppressed tokens', () => {
  const found = JSON.parse(`${readConverted('converted', 'whisper.json')}`) as WhisperConfig
  assert.deepEqual(found, {
    version: 1,
    hidden: 64,
    heads: 2,
    encoderLayers: 2,
    decoderLayers: 2,
    mels: 8,
    audioPositions: 20,
    textPositions: 16,
    vocabulary: vocabulary.length,
    alignmentHeads: [
      [1, 1],
      [0, 0],
    ],
    multilingual: true,
    languages: { en: 7, de: 8 },
    tokens: {
      end: 5,
      start: 6,
      translate: 9,
      transcribe: 10,
      startOfPrevious: 12,
      noSpeech: 13,
      noTimestamps: 14,
      firstTimestamp: 15,
    },
    suppressed: [1, 6, 9, 10, 11, 12, 13],
    suppressedAtBegin: [4, 5],
    weights: 'int8',
  })
  assert.deepEqual(JSON.parse(`${readConverted('converted', 'vocabulary.json')}`), vocabulary)
})

test('float16 weights of CTranslate2 convert to the same files', async () => {
  writeCTranslate2(join(folder, 'half'), model, 'float16')
  await convertWhisper(join(folder, 'half'), join(folder, 'from-half'), { signal })
  assertSame('from-half')
})

test('int8 weights of CTranslate2 convert to nearly the same values', async () => {
  writeCTranslate2(join(folder, 'bytes'), model, 'int8')
  const weights = openCTranslate2(join(folder, 'bytes', 'model.bin'))
  const name = 'decoder/layer_1/attention/linear_1/weight'
  const exact = model.get(name)!.values
  const near = [...weights.read(name, [0, 50]), ...weights.read(name, [50, 128])]
  weights.close()
  assert.equal(near.length, exact.length)
  for (const [i, value] of near.entries()) assert.ok(Math.abs(value - exact[i]!) < 0.001)
})

for (const [name, stored] of Object.entries({
  'one file': { type: 'F32', files: 1, prefix: 'model.' },
  'half floats in two files': { type: 'F16', files: 2, prefix: 'model.' },
  'names without the outer one': { type: 'F32', files: 1, prefix: '' },
} as const)) {
  test(`Hugging Face weights (${name}) convert to the same files as CTranslate2`, async () => {
    writeHuggingFace(join(folder, name), model, stored)
    await convertWhisper(join(folder, name), join(folder, `from ${name}`), { signal })
    assertSame(`from ${name}`)
  })
}

test('bfloat16 weights are converted', async () => {
  writeHuggingFace(join(folder, 'brain'), model, { type: 'BF16', files: 1, prefix: 'model.' })
  await convertWhisper(join(folder, 'brain'), join(folder, 'from-brain'), { signal })
  const length = (name: string) => readConverted(name, 'decoder.weights').length
  assert.equal(length('from-brain'), length('converted'))
})

/** A copy of a good folder, changed. */
async function damaged(name: string, change: (copy: string) => void): Promise<string> {
  const copy = join(folder, `damaged ${name}`)
  await cp(join(folder, 'ctranslate2'), copy, { recursive: true })
  change(copy)
  return copy
}

function replaceInModel(copy: string, from: string, to: string): void {
  const file = join(copy, 'model.bin')
  writeFileSync(
    file,
    Buffer.from(readFileSync(file).toString('latin1').replace(from, to), 'latin1'),
  )
}

/** Replaces the weights by a file in the form of Hugging Face with this header. */
function placeTensors(copy: string, header: string): void {
  rmSync(join(copy, 'model.bin'))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const bytes = Buffer.concat([length, Buffer.from(header), Buffer.alloc(8)])
  writeFileSync(join(copy, 'model.safetensors'), bytes)
}

for (const [name, change, message] of [
  ['shorter', (copy) => truncateSync(join(copy, 'model.bin'), 5000), /truncated/],
  [
    'another form',
    (copy) => writeFileSync(join(copy, 'model.bin'), 'PK\x03\x04abcd'),
    /not a CTrans/,
  ],
  ['another network', (copy) => replaceInModel(copy, 'Whisper', 'Tronfer'), /not a Whisper model/],
  ['a lost array', (copy) => replaceInModel(copy, '/gamma', '/delta'), /has no encoder.*gamma/],
  ['no vocabulary', (copy) => writeFileSync(join(copy, 'vocabulary.json'), '[]'), /no vocabulary/],
  ['others tokens', (copy) => writeFileSync(join(copy, 'vocabulary.json'), '["a"]'), /no token/],
  ['broken JSON', (copy) => writeFileSync(join(copy, 'config.json'), '{'), /is not JSON/],
  [
    'a head too many',
    (copy) => writeFileSync(join(copy, 'config.json'), '{"alignment_heads":[[2,0]]}'),
    /head that its model lacks/,
  ],
  ['no object', (copy) => writeFileSync(join(copy, 'config.json'), 'null'), /holds no object/],
  [
    'heads that are no list',
    (copy) => writeFileSync(join(copy, 'config.json'), '{"alignment_heads":7}'),
    /head that its model lacks/,
  ],
  [
    'an array with other sizes than bytes',
    (copy) => replaceInModel(copy, '\x01\x40\0\0\0\0', '\x01\x41\0\0\0\0'),
    /is damaged at encoder/,
  ],
  ['as Hugging Face, no headers', (copy) => placeTensors(copy, 'null'), /is not a Whisper model/],
  ['as Hugging Face, no places', (copy) => placeTensors(copy, '{"a":null}'), /is damaged at a/],
  [
    'as Hugging Face, a place before the file',
    (copy) => placeTensors(copy, '{"a":{"dtype":"F32","shape":[1],"data_offsets":[-8,-4]}}'),
    /is damaged at a/,
  ],
  [
    'as Hugging Face, more values than bytes',
    (copy) => placeTensors(copy, '{"a":{"dtype":"F32","shape":[1e9],"data_offsets":[0,4]}}'),
    /is damaged at a/,
  ],
  [
    'as Hugging Face, files elsewhere',
    (copy) => {
      rmSync(join(copy, 'model.bin'))
      const index = { weight_map: { a: '../ctranslate2/model.bin' } }
      writeFileSync(join(copy, 'model.safetensors.index.json'), JSON.stringify(index))
    },
    /names files that no folder of weights has/,
  ],
] satisfies [string, (copy: string) => void, RegExp][]) {
  test(`convertWhisper rejects: ${name}`, async () => {
    const source = await damaged(name, change)
    const result = convertWhisper(source, join(folder, 'refused'), { signal })
    await assert.rejects(result, { name: 'WeightFileError', message })
  })
}

test('convertWhisper rejects a folder without weights', async () => {
  await mkdir(join(folder, 'empty'))
  const result = convertWhisper(join(folder, 'empty'), join(folder, 'refused'), { signal })
  await assert.rejects(result, {
    name: 'WeightFileError',
    message: /^The folder has no Whisper weights/,
  })
})

test('without configured alignment heads, those of the last half of layers are used', async () => {
  const source = await damaged('no heads', (copy) => writeFileSync(join(copy, 'config.json'), '{}'))
  await convertWhisper(source, join(folder, 'no-heads'), { signal })
  const found = JSON.parse(`${readConverted('no-heads', 'whisper.json')}`) as WhisperConfig
  assert.deepEqual(found.alignmentHeads, [
    [1, 0],
    [1, 1],
  ])
  assert.deepEqual(found.suppressedAtBegin, [4, 5])
})

test('conversion reports progress up to 1 and can be aborted', async () => {
  const progress: number[] = []
  const onProgress = (done: number) => progress.push(done)
  const source = join(folder, 'ctranslate2')
  await convertWhisper(source, join(folder, 'told'), { signal, onProgress })
  assert.deepEqual(progress, [0.25, 0.5, 0.75, 1])
  const controller = new AbortController()
  const aborted = convertWhisper(source, join(folder, 'aborted'), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  await assert.rejects(aborted, { name: 'AbortError' })
})
