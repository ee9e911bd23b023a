import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { addMetadata } from '../../../../test/support/asr/models/add-onnx-metadata.ts'
import { writeRandomNetwork } from '../../../../test/support/asr/models/random-parakeet.ts'
import {
  writeCanary,
  writeNemoCtc,
  writeSenseVoice,
  writeTransducer,
} from '../../../../test/support/asr/models/tone-models.ts'
import { readOnnxMetadata } from '../../onnx/onnx-metadata.ts'
import { describeFolder } from './describe-folder.ts'
import { readSherpaLayout, readTokenList } from './layout.ts'

const root = mkdtempSync(join(tmpdir(), 'sherpa-'))
after(() => rmSync(root, { recursive: true }))

function folderOf(name: string, write: (folder: string) => void): string {
  const folder = join(root, name)
  mkdirSync(folder)
  write(folder)
  return folder
}

test('readSherpaLayout detects the model family of a folder', () => {
  const layouts = {
    'sense-voice': writeSenseVoice,
    'nemo-ctc': writeNemoCtc,
    canary: writeCanary,
    transducer: (folder: string) => writeTransducer(folder, { isStreaming: false }),
    'streaming-transducer': (folder: string) => writeTransducer(folder, { isStreaming: true }),
    'nemo-transducer': (folder: string) => writeRandomNetwork(folder, 'sherpa'),
  }
  for (const [family, write] of Object.entries(layouts)) {
    const folder = folderOf(family, (to) => write(to))
    writeFileSync(join(folder, 'README.md'), 'not part of it')
    const { kind, files } = describeFolder(folder)
    assert.equal(readSherpaLayout(folder).family, family)
    assert.equal(kind, family.startsWith('streaming') ? 'streaming-recognition' : 'recognition')
    assert.ok(files?.includes('tokens.txt') && !files.includes('README.md'), family)
  }
})

test('8-bit networks are preferred, and bpe.vocab belongs to the model files', () => {
  const folder = folderOf('both', (to) => writeTransducer(to, { isStreaming: false }))
  for (const name of ['encoder-epoch-99-avg-1.int8.onnx', 'bpe.vocab', 'encoder.weights']) {
    writeFileSync(join(folder, name), '')
  }
  assert.throws(() => readSherpaLayout(folder), /int8.onnx is not a model that Steno runs/)
  addMetadataTo(join(folder, 'encoder-epoch-99-avg-1.int8.onnx'))
  const { files, bpeVocabulary } = readSherpaLayout(folder)
  assert.equal(bpeVocabulary, 'bpe.vocab')
  assert.ok(files.includes('encoder-epoch-99-avg-1.int8.onnx') && files.includes('encoder.weights'))
  assert.ok(!files.includes('encoder-epoch-99-avg-1.onnx'))
})

/** An empty graph with metadata. */
function addMetadataTo(file: string): void {
  addMetadata(file, { model_type: 'zipformer2' })
  assert.deepEqual([...readOnnxMetadata(file)], [['model_type', 'zipformer2']])
}

test('a token list with numbers beyond all vocabularies does not exhaust memory', () => {
  const folder = folderOf('tokens', () => {})
  writeFileSync(join(folder, 'tokens.txt'), 'a 0\nb 4294967294\nc -1\nd x\ne 2\n')
  assert.deepEqual(readTokenList(join(folder, 'tokens.txt')), ['a', '', 'e'])
})

test('ONNX metadata with empty fields is rejected without delay', () => {
  const folder = folderOf('fields', () => {})
  writeFileSync(join(folder, 'model.onnx'), Buffer.alloc(100_000, Buffer.of(0x08, 0)))
  assert.throws(() => readOnnxMetadata(join(folder, 'model.onnx')), /is not an ONNX model/)
})

test('a folder without a model is rejected with the missing part', () => {
  const folder = folderOf('none', () => {})
  assert.throws(() => readSherpaLayout(folder), /needs its tokens.txt/)
  writeFileSync(join(folder, 'tokens.txt'), 'a 0\n')
  assert.throws(() => readSherpaLayout(folder), /needs its .onnx files/)
  writeFileSync(join(folder, 'model.onnx'), 'This is no network, but a text.')
  assert.throws(() => readSherpaLayout(folder), /model.onnx is not an ONNX model/)
})
