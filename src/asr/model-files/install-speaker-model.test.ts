/** Model files made by our own writer, checked in real processes. */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import promises, { mkdtemp, open, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  embeddingMetadata,
  segmentationMetadata,
  writeBandEnergyModel,
  writeFrameModel,
  writeMeanSquareModel,
  writePitchModel,
  writeTwoInputModel,
} from '../../../test/support/asr/models/stand-in-speaker-models.ts'
import { withModelLock } from '../../models/install/lock.ts'
import {
  checkSpeakerModelFile,
  readSpeakerModel,
  type SpeakerModelKind,
} from '../../models/speaker-models.ts'
import { installSpeakerModel, removeSpeakerModel } from './install-speaker-model.ts'

const { signal } = new AbortController()

async function makeFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-added-'))
  t.after(() => rm(folder, { recursive: true }))
  const source = join(folder, 'source.onnx')
  const add = (kind: SpeakerModelKind, from = source) => {
    return installSpeakerModel(folder, { kind, source: from, name: 'mine', signal })
  }
  const files = () => readdirSync(join(folder, 'added')).sort()
  return { folder, source, add, files }
}

test('adding a model copies it with a record and replaces an earlier one', async (t) => {
  const { folder, source, add, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  const first = await add('speaker-embedding')
  assert.deepEqual(readSpeakerModel(folder, 'speaker-embedding'), first)
  assert.deepEqual(readFileSync(first.path), readFileSync(source))
  assert.deepEqual([first.name, first.origin], ['mine', 'source.onnx'])
  assert.equal(first.bytes, readFileSync(source).length)
  assert.equal(await checkSpeakerModelFile(first), undefined)
  assert.equal(await checkSpeakerModelFile(await add('speaker-embedding')), undefined)
  writeBandEnergyModel(source)
  const second = await add('speaker-embedding')
  assert.notEqual(second.sha256, first.sha256)
  assert.deepEqual(files(), ['speaker-embedding.json', second.path.split('/').at(-1)].sort())
})

test('removing a model deletes its files, and removing it again returns false', async (t) => {
  const { folder, source, add, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  await add('speaker-embedding')
  assert.equal(await removeSpeakerModel(folder, 'speaker-embedding', { signal }), true)
  assert.deepEqual(files(), [])
  assert.equal(readSpeakerModel(folder, 'speaker-embedding'), undefined)
  assert.equal(await removeSpeakerModel(folder, 'speaker-embedding', { signal }), false)
})

test('an invalid speaker-embedding is rejected with the reason, and nothing changes', async (t) => {
  const { source, add, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  await add('speaker-embedding')
  const before = files()
  const refusals: [write: () => void, reason: RegExp][] = [
    [() => writeFileSync(source, 'not a model'), /as speaker-embedding: .*Protobuf parsing failed/],
    [() => writeFileSync(source, ''), /as speaker-embedding: /],
    [() => writeFrameModel(source), /output has the shape \[1,100,80\]; \[1, dimension\]/],
    [() => writeTwoInputModel(source), /it has the inputs feats,more/],
    [() => rmSync(source), /Cannot add \S+source\.onnx: the file does not exist$/],
    [() => mkdirSync(source), /Cannot add \S+source\.onnx: it is not a file$/],
  ]
  for (const [write, reason] of refusals) {
    write()
    await assert.rejects(add('speaker-embedding'), reason)
    assert.deepEqual(files(), before)
  }
})

test('an invalid speaker-segmentation is rejected with the reason', async (t) => {
  const { source, add, files } = await makeFolder(t)
  const { num_speakers: _, ...without } = segmentationMetadata
  const refusals: [write: () => void, reason: RegExp][] = [
    [() => writePitchModel(source, without), /it lacks the metadata num_speakers: take the/],
    [() => writePitchModel(source, { ...without, num_speakers: 'x' }), /metadata num_speakers/],
    [
      () => writePitchModel(source, { ...segmentationMetadata, num_classes: 4 }),
      /output has the shape \[1,589,7\]; \[1, frames, 4\] is supported/,
    ],
    [
      () => writePitchModel(source, { ...segmentationMetadata, sample_rate: 8000 }),
      /it does not take audio at 16 kHz/,
    ],
    [() => writeTwoInputModel(source), /it has the inputs feats,more/],
    [() => writeBandEnergyModel(source, segmentationMetadata), /it does not take \[1, 1, 160000\]/],
  ]
  for (const [write, reason] of refusals) {
    write()
    await assert.rejects(add('speaker-segmentation'), reason)
    assert.deepEqual(files(), [])
  }
})

test('models are tried together, and one that crashes the process is rejected', async (t) => {
  const { source, add, folder } = await makeFolder(t)
  writePitchModel(source)
  await add('speaker-segmentation')
  writeBandEnergyModel(source, {})
  await assert.rejects(
    add('speaker-embedding'),
    /the process that tried it ended: .*Unknown model type for speaker embedding extractor/,
  )
  assert.equal(readSpeakerModel(folder, 'speaker-embedding'), undefined)
  writeBandEnergyModel(source, embeddingMetadata)
  await add('speaker-embedding')
})

test('leftovers of a killed command are removed, those of a running one are kept', async (t) => {
  const { folder, source, add, files } = await makeFolder(t)
  mkdirSync(join(folder, 'added'))
  // No process has the largest number; the parent of this process is alive.
  const [dead, alive] = ['.adding-2147483647', `.adding-${process.ppid}`]
  for (const name of [dead, alive]) writeFileSync(join(folder, 'added', name), 'half')
  writeMeanSquareModel(source)
  await add('speaker-embedding')
  assert.deepEqual([files().includes(dead), files().includes(alive)], [false, true])
})

test('a full disk is named with a remedy, and nothing changes', async (t) => {
  const { source, add, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  await using file = await open(source)
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  const writing = t.mock.method(Object.getPrototypeOf(file), 'writeFile', async () => {
    throw full
  })
  await assert.rejects(
    add('speaker-embedding'),
    /^Error: Cannot write to \S+added: the disk is full; free some space, or set STENO_MODELS_DIR/,
  )
  writing.mock.restore()
  assert.deepEqual(
    files().filter((name) => name.startsWith('.') || name === 'speaker-embedding.json'),
    [],
  )
  await add('speaker-embedding')
})

test('an addition and a removal wait for another process that changes the models', async (t) => {
  const { folder, source, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  const held = Promise.withResolvers<void>()
  const waiting = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const kind = 'speaker-embedding'
  await installSpeakerModel(folder, { kind, source, name: 'first', signal })
  const before = files()
  const begun = Promise.withResolvers<void>()
  const other = withModelLock(folder, { id: 'added', signal }, () => {
    begun.resolve()
    return held.promise
  })
  await begun.promise
  const addition = { kind, source, name: 'second', signal, onWait: waiting[0].resolve } as const
  const adding = installSpeakerModel(folder, addition)
  const removing = removeSpeakerModel(folder, kind, { signal, onWait: waiting[1].resolve })
  await Promise.all(waiting.map(({ promise }) => promise))
  assert.deepEqual(files(), before)
  held.resolve()
  await Promise.all([other, adding])
  assert.equal(await removing, true)
})

test('a file that may not be read is named, not the folder of the models', async (t) => {
  const { source, add } = await makeFolder(t)
  writeMeanSquareModel(source)
  const access = t.mock.method(promises, 'access', async () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  })
  syncBuiltinESMExports()
  const adding = add('speaker-embedding')
  await assert.rejects(adding, /^Error: Cannot add \S+source\.onnx: the file is not readable$/)
  access.mock.restore()
  syncBuiltinESMExports()
})

test('of two removals one removes the model, and a removal creates no folder', async (t) => {
  const { folder, source, add } = await makeFolder(t)
  const kind = 'speaker-embedding'
  assert.equal(await removeSpeakerModel(folder, kind, { signal }), false)
  assert.deepEqual(readdirSync(folder), [])
  writeMeanSquareModel(source)
  await add(kind)
  const removals = [1, 2].map(() => removeSpeakerModel(folder, kind, { signal }))
  assert.deepEqual((await Promise.all(removals)).sort(), [false, true])
})

test('an aborted addition leaves no files', async (t) => {
  const { folder, source, files } = await makeFolder(t)
  writeMeanSquareModel(source)
  const controller = new AbortController()
  const reason = new Error('enough')
  const kind = 'speaker-embedding'
  const adding = installSpeakerModel(folder, { kind, source, name: 'x', signal: controller.signal })
  controller.abort(reason)
  await assert.rejects(adding, (error: Error) => error.cause === reason)
  assert.deepEqual(files(), [])
})

test('a changed model file is reported as damaged, a deleted one as missing', async (t) => {
  const { source, add } = await makeFolder(t)
  writeMeanSquareModel(source)
  const model = await add('speaker-embedding')
  appendFileSync(model.path, 'x')
  assert.equal(await checkSpeakerModelFile(model), 'damaged')
  rmSync(model.path)
  assert.equal(await checkSpeakerModelFile(model), 'missing')
})

test('an unreadable record is reported with the command that repairs it', async (t) => {
  const { folder, source, add } = await makeFolder(t)
  writeMeanSquareModel(source)
  await add('speaker-embedding')
  const record = join(folder, 'added', 'speaker-embedding.json')
  const whole = JSON.parse(readFileSync(record, 'utf8'))
  const broken = ['{', 'null', '{}', JSON.stringify({ ...whole, file: '../x.onnx' })]
  for (const text of broken) {
    writeFileSync(record, text)
    assert.throws(
      () => readSpeakerModel(folder, 'speaker-embedding'),
      /remove it with 'steno models remove speaker-embedding' and add it again/,
    )
  }
  assert.equal(await removeSpeakerModel(folder, 'speaker-embedding', { signal }), true)
})
