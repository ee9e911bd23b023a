import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { runHere } from '../../../test/support/run-here.ts'
import { type ModelKind, readInstalledModel } from '../../asr/models/installed-models.ts'
import {
  embeddingMetadata,
  writeBandEnergyModel,
  writeMeanSquareModel,
  writePitchModel,
} from '../../asr/speakers/stand-in-models.fixture.ts'
import { readConfig } from '../../config.ts'
import { checkSpeakerModels } from './check-speaker-models.ts'

const root = mkdtempSync(join(tmpdir(), 'steno-models-'))
const folder = join(root, 'models')
const source = join(root, 'voices.onnx')
const env = { STENO_MODELS_DIR: folder }
const { signal } = new AbortController()
after(() => rmSync(root, { recursive: true }))
beforeEach(() => rmSync(folder, { recursive: true, force: true }))

function models(...args: string[]) {
  return runHere(['models', ...args], env)
}

/** Returns the lines of the list without their headings, blanks unchanged. */
async function listed(): Promise<{ lines: string[]; code: number }> {
  const { stdout, code } = await models()
  return { lines: stdout.trimEnd().split('\n').slice(1), code }
}

function pathOf(kind: ModelKind): string {
  return readInstalledModel(folder, kind)!.path
}

test('the list tells every model with its size, and what is missing or damaged', async () => {
  const empty = await listed()
  assert.equal(empty.code, 1)
  assert.match(
    empty.lines[0]!,
    /^moonshine-base +recognition of files and of finals +0\.0 MB +missing$/,
  )
  cpSync(readConfig({}).models.folder, folder, { recursive: true })
  const { lines, code } = await listed()
  assert.equal(code, 0)
  assert.deepEqual(
    lines.map((line) => line.replace(/ {2,}[\d.]+ MB/, '').replace(/ {2,}/g, ' · ')),
    [
      'moonshine-base · recognition of files and of finals · whole',
      'moonshine-tiny · recognition of partials · whole',
      'silero-vad · voice detection · whole',
      'xvector-8k · speaker-embedding, built in · whole',
    ],
  )
  assert.match(lines[3]!, / 6\.\d MB /)
  truncateSync(join(folder, 'silero-vad.onnx'), 1000)
  const damaged = await listed()
  assert.deepEqual([damaged.code, /damaged$/.test(damaged.lines[2]!)], [1, true])
})

test('a model is added, listed, damaged, and removed by its name', async () => {
  writeMeanSquareModel(source)
  const added = await models('add', 'speaker-embedding', source, '--name', 'ours')
  assert.deepEqual([added.code, added.stdout], [0, ''])
  assert.match(added.stderr, /^ours is the speaker-embedding model now, 0\.0 MB\.\nRestart servers/)
  assert.match((await listed()).lines.at(-1)!, /^ours +speaker-embedding, added .* whole$/)
  appendFileSync(pathOf('speaker-embedding'), 'x')
  assert.match((await listed()).lines.at(-1)!, /^ours .* damaged$/)
  writeFileSync(join(folder, 'added', 'speaker-embedding.json'), '{')
  assert.match((await listed()).lines.at(-1)!, /^speaker-embedding .* unreadable$/)
  assert.equal((await models('add', 'speaker-embedding', source, '--name', 'ours')).code, 0)
  const removed = await models('remove', 'ours')
  assert.deepEqual([removed.code, removed.stdout], [0, ''])
  assert.match(removed.stderr, /^The speaker-embedding model is removed/)
  for (const name of ['ours', 'speaker-embedding']) {
    const { code, stderr } = await models('remove', name)
    assert.deepEqual([code, /Cannot remove '\S+': no such model was added/.test(stderr)], [1, true])
  }
})

test('a segmentation model waits for an embedding model, and removal by kind keeps the other', async () => {
  writePitchModel(source)
  const waiting = await models('add', 'speaker-segmentation', source)
  assert.match(
    waiting.stderr,
    /^voices\.onnx is the .*\nIt is used once there is a speaker-embedding/,
  )
  writeBandEnergyModel(source)
  await models('add', 'speaker-embedding', source)
  writePitchModel(source)
  const again = await models('add', 'speaker-segmentation', source)
  assert.doesNotMatch(again.stderr, /It is used once/)
  assert.equal((await models('remove', 'speaker-segmentation')).code, 0)
  assert.equal(readInstalledModel(folder, 'speaker-segmentation'), undefined)
  assert.ok(readInstalledModel(folder, 'speaker-embedding'))
})

test('a file that is no model ends with code 1 and the reason', async () => {
  writeFileSync(source, 'no model')
  const { code, stderr } = await models('add', 'speaker-embedding', source)
  assert.equal(code, 1)
  assert.match(stderr, /^steno models: Cannot add \S+ as speaker-embedding: .*Protobuf/)
})

test('doctor tells which models for speakers there are, and what is wrong with them', async () => {
  const check = () => checkSpeakerModels(readConfig(env), signal)
  assert.deepEqual(await check(), { state: 'ok', text: 'models for speakers: built in' })
  writeBandEnergyModel(source, { ...embeddingMetadata, framework: 'unknown' })
  await models('add', 'speaker-embedding', source)
  assert.deepEqual(await check(), {
    state: 'ok',
    text: "models for speakers: speaker-embedding 'voices.onnx'",
  })
  const path = pathOf('speaker-embedding')
  appendFileSync(path, 'x')
  const damaged = await check()
  assert.deepEqual(
    [damaged.state, damaged.text],
    ['fail', "models for speakers: speaker-embedding 'voices.onnx' is damaged"],
  )
  assert.match(damaged.remedy!, /steno models remove/)
  rmSync(path)
  assert.match((await check()).text, /is missing$/)
  writeFileSync(join(folder, 'added', 'speaker-embedding.json'), '{')
  assert.match(
    (await check()).text,
    /Cannot read the record of the speaker-embedding model: remove/,
  )
})
