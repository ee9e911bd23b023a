import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, beforeEach, test } from 'node:test'
import { startModelServer } from '../../../test/support/asr/model-server.ts'
import { randomModel, writeCTranslate2 } from '../../../test/support/asr/models/random-whisper.ts'
import {
  embeddingMetadata,
  writeBandEnergyModel,
  writeMeanSquareModel,
  writePitchModel,
} from '../../../test/support/asr/models/stand-in-speaker-models.ts'
import { writeTransducer } from '../../../test/support/asr/models/tone-models.ts'
import { runHere } from '../../../test/support/cli/run-here.ts'
import { readConfig } from '../../config/config.ts'
import { readStoredModels, storeFolder } from '../../models/install/installed-models.ts'
import { withModelLock } from '../../models/install/lock.ts'
import { readSpeakerModel, type SpeakerModelKind } from '../../models/speaker-models.ts'
import { runCommand } from '../commands.ts'
import { checkSpeakerModels } from './check-speaker-models.ts'
import { checkStoredModels } from './check-stored-models.ts'

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

/** Returns the lines of the list of what is there, without headings, blanks unchanged. */
async function listed(): Promise<{ lines: string[]; code: number }> {
  const { stdout, code } = await models('list', '--installed')
  return { lines: stdout.trimEnd().split('\n').slice(1), code }
}

function pathOf(kind: SpeakerModelKind): string {
  return readSpeakerModel(folder, kind)!.path
}

test('the list shows each model with its size, and which are missing or damaged', async () => {
  const empty = await listed()
  assert.equal(empty.code, 1)
  assert.match(
    empty.lines[0]!,
    /^moonshine-base +recognition of files and of finals +en +0\.0 MB +MIT +measured +missing$/,
  )
  // The test damages the copy: it must not be a link.
  cpSync(readConfig({}).models.folder, folder, { recursive: true, dereference: true })
  const { lines, code } = await listed()
  assert.equal(code, 0)
  assert.deepEqual(
    lines.map((line) => line.replace(/ {2,}[\d.]+ MB/, '').replace(/ {2,}/g, ' · ')),
    [
      'moonshine-base · recognition of files and of finals · en · MIT · measured · installed',
      'moonshine-tiny · recognition of partials · en · MIT · measured · installed',
      'silero-vad · voice detection · MIT · installed',
      'xvector-8k · speaker-embedding, built in · Apache-2.0 · installed',
    ],
  )
  assert.match(lines[3]!, / 6\.\d MB /)
  const silero = join(folder, 'silero-vad.onnx')
  const content = readFileSync(silero)
  content[1000]! ^= 1
  writeFileSync(silero, content)
  const checked = await models('check')
  assert.deepEqual([(await listed()).code, checked.code], [0, 1])
  assert.match(checked.stdout, /^silero-vad .* damaged$/m)
  truncateSync(silero, 1000)
  const damaged = await listed()
  assert.deepEqual([damaged.code, /damaged$/.test(damaged.lines[2]!)], [1, true])
})

test('the list shows the catalog, also as JSON', async () => {
  const { stdout } = await models()
  assert.match(
    stdout,
    /^whisper-small +recognition +99 languages +486 MB +MIT +another size measured +available$/m,
  )
  assert.match(
    stdout,
    /^parakeet-ultra +recognition +25 languages +668 MB +CC-BY-4.0 +not measured +available$/m,
  )
  const all: { name: string; state: string; credit: string | null }[] = JSON.parse(
    (await models('--json')).stdout,
  )
  const found = all.find(({ name }) => name === 'parakeet-ultra')!
  assert.equal(found.state, 'available')
  assert.match(found.credit!, /NVIDIA.*moondream.*Olicorne/)
})

test('a failed download names the file, the source and a remedy', async (t) => {
  const server = await startModelServer()
  t.after(() => server.close())
  const mirror = { ...env, STENO_MODELS_MIRROR: server.url }
  const { code, stderr } = await runHere(['models', 'pull', 'whisper-tiny'], mirror)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /Cannot fetch model\.bin of whisper-tiny from 127\.0\.0\.1:\d+: the server responds with 404; .*MIRROR/,
  )
  assert.match(
    server.seen[0]!.path,
    /^\/Systran\/faster-whisper-tiny\/resolve\/[0-9a-f]{40}\/model\.bin$/,
  )
  assert.match((await models('remove', 'whisper-tiny')).stderr, /it is not installed/)
  assert.match((await models('remove', 'moonshine-base')).stderr, /comes with Steno/)
})

test('a removal says that it waits for an installation', async () => {
  const release = Promise.withResolvers<void>()
  const store = storeFolder(folder)
  const begun = Promise.withResolvers<void>()
  const installation = withModelLock(store, { id: 'whisper-tiny', signal }, () => {
    begun.resolve()
    return release.promise
  })
  await begun.promise
  const stderr = new PassThrough({ encoding: 'utf8' })
  const terminal = { env, stdin: new PassThrough(), stdout: new PassThrough(), stderr, signal }
  const removal = runCommand(['models', 'remove', 'whisper-tiny'], terminal)
  const [text] = await once(stderr, 'data')
  assert.equal(text, 'Waiting for another process that installs or removes whisper-tiny\n')
  release.resolve()
  await installation
  assert.equal(await removal, 1)
})

test('a checkpoint is imported under a name, verified and removed', async () => {
  const checkpoint = join(root, 'checkpoint')
  mkdirSync(checkpoint)
  writeCTranslate2(checkpoint, randomModel(), 'float16')
  const imported = await models('import', checkpoint, '--as', 'ours', '--languages', 'de,EN')
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stderr, /^ours is installed\.$/m)
  const lines = async () => (await listed()).lines.at(-1)!
  assert.match(
    await lines(),
    /^ours +recognition +de, en +\d\.\d MB +unknown +not measured +installed$/,
  )
  const doctor = () => checkStoredModels(readConfig(env), signal)
  const small = await checkStoredModels(readConfig({ ...env, STENO_MODEL_MEMORY: '9' }), signal)
  assert.deepEqual([small.state, /ours left out/.test(small.text)], ['warn', true])
  assert.deepEqual(await doctor(), {
    state: 'ok',
    text: 'models for more languages: ours, checksums match',
  })
  const again = await models('import', checkpoint, '--as', 'ours', '--languages', 'de')
  assert.match(again.stderr, /ours was installed already/)
  const file = join(storeFolder(folder), 'ours', 'vocabulary.json')
  const content = readFileSync(file)
  content[5]! ^= 1
  writeFileSync(file, content)
  assert.match((await models('check')).stdout, /^ours .* damaged$/m)
  assert.match((await doctor()).text, /: ours is damaged$/)
  writeFileSync(join(storeFolder(folder), 'ours', 'model.json'), '{')
  assert.match(await lines(), /^ours .* unreadable$/)
  assert.equal((await models('remove', 'ours')).code, 0)
  assert.doesNotMatch(await lines(), /^ours/)
  assert.match((await doctor()).text, /none; 'steno setup' recommends some$/)
})

test('a sherpa-onnx model is imported under a name, without unrelated files', async () => {
  const tones = join(root, 'tones')
  mkdirSync(tones)
  writeTransducer(tones, { isStreaming: true })
  writeFileSync(join(tones, 'README.md'), 'How this was made')
  const imported = await models('import', tones, '--as', 'tones', '--languages', 'en')
  assert.equal(imported.code, 0, imported.stderr)
  const [model] = readStoredModels(folder)
  assert.deepEqual([model!.engine, model!.kind], ['sherpa', 'streaming-recognition'])
  assert.deepEqual(
    readdirSync(model!.folder).filter((name) => !/onnx|weights/.test(name)),
    ['model.json', 'tokens.txt'],
  )
  rmSync(join(tones, 'tokens.txt'))
  const broken = await models('import', tones, '--as', 'other', '--languages', 'en')
  assert.match(broken.stderr, /Cannot import .*tones: .* needs its tokens.txt/)
  assert.equal((await models('remove', 'tones')).code, 0)
})

test('a folder or file that may not be read is named with the reason', async (t) => {
  const denied = (path: string) => async () => {
    const error = new Error(`EACCES: permission denied, scandir '${path}'`)
    throw Object.assign(error, { code: 'EACCES', syscall: 'scandir', path })
  }
  for (const method of ['stat', 'readdir'] as const) {
    const mocked = t.mock.method(promises, method, denied(root))
    syncBuiltinESMExports()
    for (const options of [[], ['--as', 'ours', '--languages', 'de']]) {
      const { code, stderr } = await models('import', root, ...options)
      assert.match(stderr, /^steno models: Cannot open \S+: permission denied$/m)
      assert.equal(code, 1)
    }
    mocked.mock.restore()
    syncBuiltinESMExports()
  }
})

test('a folder without a valid model is not imported', async () => {
  const other = join(root, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'model.bin'), 'x')
  const none = await models('import', other)
  assert.deepEqual(
    [none.code, /Cannot import anything from .*files are missing/.test(none.stderr)],
    [1, true],
  )
  const broken = await models('import', other, '--as', 'ours', '--languages', 'de')
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /^steno models: .*model\.bin/m)
  assert.deepEqual(readStoredModels(folder), [])
  rmSync(join(other, 'model.bin'))
  symlinkSync('/nowhere', join(other, 'model.bin'))
  symlinkSync('/nowhere', join(other, 'README.md'))
  const dangling = await models('import', other, '--as', 'ours', '--languages', 'de')
  assert.match(
    dangling.stderr,
    /^steno models: Cannot import \S+model\.bin: it is a link to a file th/,
  )
  const file = await models('import', join(other, 'model.json'))
  assert.match(file.stderr, /^steno models: Cannot import \S+: the folder does not exist/)
  writeFileSync(join(other, 'model.json'), '{}')
  const noFolder = await models('import', join(other, 'model.json'))
  assert.match(noFolder.stderr, /^steno models: Cannot import \S+: it is not a folder/)
  const taken = await models('import', other, '--as', 'whisper-base', '--languages', 'de')
  assert.match(taken.stderr, /the catalog has a model of this name/)
})

test('a speaker model is added, listed, reported as damaged, and removed by name', async () => {
  writeMeanSquareModel(source)
  const added = await models('add', 'speaker-embedding', source, '--name', 'ours')
  assert.deepEqual([added.code, added.stdout], [0, ''])
  assert.match(added.stderr, /^ours is the speaker-embedding model now, 0\.0 MB\.\nRestart servers/)
  assert.match((await listed()).lines.at(-1)!, /^ours +speaker-embedding, added .* installed$/)
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

test('a speaker model with the name of another model is removed by its kind', async () => {
  writeMeanSquareModel(source)
  for (const name of ['whisper-tiny', 'silero-vad']) {
    await models('add', 'speaker-embedding', source, '--name', name)
    const { code, stderr } = await models('remove', name)
    const hint = /; the speaker-embedding model has this name, too: 'steno models remove speaker-e/
    assert.match(stderr, hint)
    assert.equal(code, 1)
  }
  const store = join(storeFolder(folder), 'whisper-tiny')
  mkdirSync(store)
  await models('add', 'speaker-embedding', source, '--name', 'whisper-tiny')
  const both = await models('remove', 'whisper-tiny')
  assert.match(
    both.stderr,
    /^whisper-tiny is removed\.\nStill there: the speaker-embedding model has/,
  )
  assert.equal((await models('remove', 'speaker-embedding')).code, 0)
})

test('a segmentation model needs an embedding model, and removal keeps the other', async () => {
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
  assert.equal(readSpeakerModel(folder, 'speaker-segmentation'), undefined)
  assert.ok(readSpeakerModel(folder, 'speaker-embedding'))
})

test('a file that is not a model exits with code 1 and the reason', async () => {
  writeFileSync(source, 'no model')
  const { code, stderr } = await models('add', 'speaker-embedding', source)
  assert.equal(code, 1)
  assert.match(stderr, /^steno models: Cannot add \S+ as speaker-embedding: .*Protobuf/)
})

test('doctor lists the speaker models and their problems', async () => {
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
