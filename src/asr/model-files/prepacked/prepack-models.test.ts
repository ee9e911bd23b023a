import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { captureLog } from '../../../../test/support/server/captured-log.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { createSpeechEngine } from '../../create-speech-engine.ts'
import { moonshineModels } from '../../engines/moonshine/dimensions.ts'
import { elementType, readModel, type WritableModel } from '../../onnx/onnx.ts'
import { findDamage } from '../bundled-record.ts'
import { prepackInBackground } from './prepack-in-background.ts'
import { assertSameOutput, prepackModels } from './prepack-models.ts'
import {
  findPrepacked,
  prepackedGraphs,
  prepackedName,
  prepackedRoot,
  removeDamagedPrepacked,
} from './prepacked-models.ts'
import { multipliesSignedExactly } from './signed-weights.ts'

const installed = join(import.meta.dirname, '../../../../models')
const skip = process.platform !== 'linux' || process.arch !== 'x64'

/** A models folder with the installed models and nothing prepacked. */
async function copyModels(t: TestContext): Promise<string> {
  const folder = await makeFolder(t)
  for (const name of ['moonshine-base', 'moonshine-tiny', 'silero-vad.onnx', 'embedded.json'])
    await symlink(join(installed, name), join(folder, name))
  return folder
}

/** Waits until a process of this one has mapped the prepacked models for recordings. */
async function untilMapped(folder: string): Promise<void> {
  const isMapped = async (pid: string) => {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
    const isOurs = (await read('cmdline')).includes(`worker.ts\0${folder}\0batch`)
    return isOurs && (await read('maps')).includes('/prepacked/')
  }
  for (let found = false; !found; await sleep(100)) {
    const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
    found = (await Promise.all(children.trim().split(' ').map(isMapped))).some(Boolean)
  }
}

test('prepacked models are shared by the processes and compute the same', {
  skip,
}, async (t) => {
  const folder = await copyModels(t)
  const root = prepackedRoot(folder)
  const name = prepackedName(folder)!
  assert.equal(findPrepacked(folder), undefined)
  const otherProcessor = `${name.split('-')[0]}-0123456789ab`
  const kept = [otherProcessor, 'lost+found']
  // Another version left the first one, a killed process the second one.
  for (const other of ['0123456789ab-0123456789ab', `.work-${name}`, ...kept])
    await mkdir(join(root, other), { recursive: true })
  const log = createLog('silent')
  const engine = createSpeechEngine({ folder, workers: 1, log, prepacks: true })
  t.after(() => engine.close())
  await untilMapped(folder)
  await engine.close()

  const prepacked = findPrepacked(folder)!
  assert.deepEqual((await readdir(root)).sort(), ['.locks', name, ...kept].sort())
  const { mtimeMs } = await stat(prepacked)
  // Nothing is written then, so the folder may be read-only.
  await rm(join(root, '.locks'), { recursive: true })
  await prepackModels(folder)
  assert.deepEqual((await readdir(root)).sort(), [name, ...kept].sort())
  assert.equal((await stat(prepacked)).mtimeMs, mtimeMs)

  const areSignedExact = await multipliesSignedExactly(join(folder, 'product.onnx'))
  for (const graph of prepackedGraphs) {
    const { initializer } = (readModel(join(prepacked, `${graph}.onnx`)) as WritableModel).graph
    const entries = initializer.flatMap((tensor) => {
      return 'external_data' in tensor ? tensor.external_data : []
    })
    const packed = entries.filter(({ key }) => key.startsWith('prepacked'))
    assert.ok(packed.length > 10)
    const isSigned = initializer.some(({ data_type }) => data_type === elementType.int8)
    assert.equal(isSigned, areSignedExact)
    for (const { value } of packed) assert.equal(Number(/\|(\d+);/.exec(value)![1]) % 64, 0)
  }

  const entry = new URL('../../workers/worker.ts', import.meta.url)
  const worker = fork(entry, [folder, 'partials'])
  t.after(() => worker.kill('SIGKILL'))
  await once(worker, 'message')
  const maps = await readFile(`/proc/${worker.pid}/maps`, 'utf8')
  assert.match(maps, /prepacked\/.*\/moonshine-tiny\/decoder\.weights/)

  assert.deepEqual(await findDamage(folder, { hashes: true }), [])
  await removeDamagedPrepacked(folder)
  assert.equal(findPrepacked(folder), prepacked)

  // As if the weights were packed for another processor.
  const weights = await open(join(prepacked, 'moonshine-tiny/decoder.weights'), 'r+')
  const { size } = await weights.stat()
  await weights.write(Buffer.alloc(size / 2), 0, size / 2, size / 4)
  await weights.close()
  const [original, changed] = [folder, prepacked].map((one) => join(one, 'moonshine-tiny'))
  const trial = assertSameOutput(original!, changed!, moonshineModels.tiny)
  await assert.rejects(trial, /computes other values/)
  const damaged = `prepacked/${name}/moonshine-tiny/decoder.weights`
  assert.deepEqual(await findDamage(folder, { hashes: true }), [damaged])
  assert.deepEqual(await findDamage(folder, { hashes: false }), [])
  await removeDamagedPrepacked(folder)
  assert.equal(findPrepacked(folder), undefined)
})

test('servers that start together all use the models that one of them prepacks', {
  skip,
}, async (t) => {
  const folder = await copyModels(t)
  const { log, lines } = captureLog()
  const prepack = () => new Promise<void>((resolve) => prepackInBackground(folder, log, resolve))
  await Promise.all([prepack(), prepack()])
  assert.deepEqual(lines, [])
})

test('a worker falls back to the installed models if the prepacked ones fail to load, and removes these', {
  skip,
}, async (t) => {
  const folder = await copyModels(t)
  const broken = join(prepackedRoot(folder), prepackedName(folder)!, 'moonshine-tiny')
  await mkdir(broken, { recursive: true })
  await writeFile(join(broken, 'encoder.onnx'), 'not a model')
  const worker = fork(new URL('../../workers/worker.ts', import.meta.url), [folder, 'partials'])
  t.after(() => worker.kill('SIGKILL'))
  const [message] = await once(worker, 'message')
  assert.equal(message.type, 'ready')
  assert.equal(findPrepacked(folder), undefined)
})

test('a prepacking process that Ctrl-C ends is no problem, one that is killed is', {
  skip,
}, async (t) => {
  const folder = await copyModels(t)
  const { log, lines } = captureLog()
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    prepackInBackground(folder, log, () => {})
    const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
    process.kill(Number(children.trim().split(' ').at(-1)), signal)
  }
  while (lines.length === 0) await sleep(20)
  assert.deepEqual(
    lines.map(({ problem }) => problem),
    ['SIGKILL'],
  )
})

test('models are not prepacked where the processor is hidden', async (t) => {
  const folder = await copyModels(t)
  assert.equal(prepackedName(folder, join(folder, 'cpuinfo')), undefined)
})

test('a program may end while the models are prepacked', { skip }, async (t) => {
  // It holds no models, so prepacking fails.
  const folder = await makeFolder(t)
  const { log, lines } = captureLog()
  const before = process.getActiveResourcesInfo()
  prepackInBackground(folder, log, () => {})
  assert.deepEqual(process.getActiveResourcesInfo(), before)
  while (lines.length === 0) await sleep(20)
  assert.equal(lines[0]!.msg, 'cannot prepack the models')
  assert.match(JSON.stringify(lines[0]), /no such file/)
})
