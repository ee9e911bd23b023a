/** Models that are installed when a request needs them, from a mirror of this machine. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '../../../src/app/app.ts'
import { pullIn } from '../../../src/app/models/model-pulls.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { CatalogModel } from '../../../src/models/catalog.ts'
import { PullQueue } from '../../../src/models/pull-queue.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createTonesEngine, speakWav } from '../../support/asr/many-languages.ts'
import { type Responder, refuse, startModelServer } from '../../support/asr/model-server.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { captureLog, type LogLine } from '../../support/server/captured-log.ts'
import { sharedParts } from '../../support/server/shared-parts.ts'

const content = Buffer.from(Uint32Array.from({ length: 100_000 }, (_, i) => i * 2654435761).buffer)
const model: CatalogModel = {
  id: 'german',
  kind: 'recognition',
  engine: 'parakeet',
  languages: ['de'],
  license: 'MIT',
  memoryBytes: 100,
  summary: 'for tests',
  revision: 'r1',
  files: [
    {
      url: 'https://huggingface.co/owner/weights.onnx',
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      path: 'weights.onnx',
    },
  ],
}

async function makeFolders(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'steno-pulls-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const mirror = await startModelServer()
  t.after(() => mirror.close())
  mirror.files.set('/owner/weights.onnx', content)
  return { models: join(root, 'models'), data: join(root, 'data'), mirror }
}

type Folders = Awaited<ReturnType<typeof makeFolders>>

/** Starts a server that pulls from the mirror; several may use the same folders in turn. */
async function start(t: TestContext, { models, data, mirror }: Folders) {
  const { log, lines } = captureLog()
  const sources = { mirror: mirror.url, hubEndpoint: 'https://huggingface.co', hubToken: undefined }
  const pulls = new PullQueue({
    run: pullIn({ folder: models, sources }, log),
    memoryBytes: 1e9,
    log,
    suggest: (languages) => (languages.includes('de') ? model : undefined),
  })
  const settings = { folder: models, pulls, live: { partialInterval: 0.1 } }
  const { speech } = await createTonesEngine(t, [], settings)
  const config = readConfig({
    STENO_DATA_DIR: data,
    STENO_API_KEYS: 'test:key',
    STENO_RATE_LIMIT: '0',
    STENO_RESULT_MODEL: 'true',
  })
  const parts = { speech, log: createLog('silent'), graceMs: 0 }
  const app = await createApp(config, { ...parts, ...sharedParts() })
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= app.close()
    return closing
  }
  t.after(close)
  return { url, key: 'key', app, lines, close }
}

type Server = Awaited<ReturnType<typeof start>>
type Job = { status: string; error_code: number | null; error_message?: string }
type Done = { result: { transcription: { utterances: { text: string; model: string }[] } } }

const german = { language_config: { languages: ['de'] } }

async function submit(server: Server, fields: object = german): Promise<string> {
  const wav = speakWav([{ language: 'de', seconds: 2 }, { seconds: 1 }])
  const json = { audio_url: await upload(server, wav), ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

function find(server: Server, id: string) {
  return call<Job & Done>(server, `/v2/pre-recorded/${id}`).then(({ body }) => body)
}

/** Sends a little at a time, and the rest when `rest` is done. */
function sendSlowly(rest: Promise<unknown>): Responder {
  return async (response, { content: all }) => {
    response.writeHead(200, { 'content-length': all.length })
    let [sent, isReleased] = [0, false]
    void rest.then(() => {
      isReleased = true
    })
    for (; !isReleased && !response.destroyed && sent < all.length - 10_000; sent += 5000) {
      response.write(all.subarray(sent, sent + 5000))
      await delay(50)
    }
    await rest
    response.end(all.subarray(sent))
  }
}

async function until<T>(check: () => Promise<T | false> | T | false): Promise<T> {
  for (;;) {
    const found = await check()
    if (found) return found
    await delay(20)
  }
}

const progressOf = (server: Server, id: string) => {
  return call<{ stage: string; fraction: number }>(server, `/v2/pre-recorded/${id}/progress`)
}

test('jobs in a missing language wait for its model, which is pulled once', async (t) => {
  const folders = await makeFolders(t)
  const server = await start(t, folders)
  const rest = Promise.withResolvers<void>()
  folders.mirror.next.push(sendSlowly(rest.promise))
  const ids = await Promise.all([submit(server), submit(server), submit(server)])
  const { body } = await until(async () => {
    const progress = await progressOf(server, ids[0]!)
    return progress.body.stage === 'pull model' && progress.body.fraction > 0.06 && progress
  })
  assert.ok(body.fraction < 0.15)
  const english = await submit(server, { language_config: { languages: ['en'] } })
  await until(async () => (await find(server, english)).status === 'done')
  rest.resolve()
  await server.app.jobs.idle()
  for (const id of ids) {
    const job = await find(server, id)
    assert.equal(job.status, 'done', JSON.stringify(job))
    const [utterance] = job.result.transcription.utterances
    assert.equal(utterance!.model, 'german@r1')
  }
  assert.equal(folders.mirror.seen.length, 1)
  const countLogLines = (text: string) =>
    server.lines.filter(({ msg }: LogLine) => msg === text).length
  assert.deepEqual(
    [countLogLines('model is being pulled'), countLogLines('model is installed')],
    [1, 1],
  )
})

test('a failed pull fails the job with the command to run, and the next job retries', async (t) => {
  const folders = await makeFolders(t)
  const server = await start(t, folders)
  folders.mirror.next.push(refuse(404))
  const id = await submit(server)
  await server.app.jobs.idle()
  const job = await find(server, id)
  assert.deepEqual([job.status, job.error_code], ['error', 502])
  assert.match(
    JSON.stringify(job),
    /Cannot fetch weights.onnx of german from 127.*404.*'steno models pull german'/,
  )
  const next = await submit(server)
  await server.app.jobs.idle()
  assert.equal((await find(server, next)).status, 'done')
})

test('a pull interrupted by a stop is resumed at the next start', async (t) => {
  const folders = await makeFolders(t)
  const first = await start(t, folders)
  folders.mirror.next.push(sendSlowly(new Promise(() => {})))
  const id = await submit(first)
  await until(async () => {
    const { body } = await progressOf(first, id)
    return body.stage === 'pull model' && body.fraction > 0.06
  })
  await first.close()
  const second = await start(t, folders)
  await second.app.jobs.idle()
  assert.equal((await find(second, id)).status, 'done')
  assert.match(folders.mirror.seen[1]!.range!, /^bytes=\d{5,}-$/)
})

test('canceling a job that waits for a model ends it, and the pull continues', async (t) => {
  const folders = await makeFolders(t)
  const server = await start(t, folders)
  const rest = Promise.withResolvers<void>()
  folders.mirror.next.push(sendSlowly(rest.promise))
  const id = await submit(server)
  await until(() => folders.mirror.seen.length === 1)
  await call(server, `/v2/pre-recorded/${id}/cancel`, { method: 'POST' })
  await server.app.jobs.idle()
  assert.equal((await find(server, id)).error_code, 499)
  rest.resolve()
  await until(() => server.lines.some(({ msg }: LogLine) => msg === 'model is installed'))
})

test('a live session in a missing language gets a retry time', async (t) => {
  const folders = await makeFolders(t)
  const server = await start(t, folders)
  const rest = Promise.withResolvers<void>()
  folders.mirror.next.push(sendSlowly(rest.promise))
  const json = { encoding: 'wav/pcm', sample_rate: 16_000, ...german }
  const open = () => call<ErrorBody>(server, '/v2/live', { json })
  const refused = await open()
  assert.equal(refused.status, 422)
  assert.match(refused.body.message, /german for de is being installed \(0 %\); try again later/)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  await until(() => folders.mirror.seen.length === 1)
  await until(async () => /\([1-9]\d? %\)/.test((await open()).body.message))
  rest.resolve()
  await until(async () => (await open()).status === 201)
  assert.equal(folders.mirror.seen.length, 1)
})

test('a live session whose model cannot be installed gets the reason', async (t) => {
  const folders = await makeFolders(t)
  const server = await start(t, folders)
  folders.mirror.next.push(refuse(403))
  const json = { encoding: 'wav/pcm', sample_rate: 16_000, ...german }
  const open = () => call<ErrorBody>(server, '/v2/live', { json })
  await open()
  const failed = await until(async () => {
    const response = await open()
    return /403/.test(response.body.message) && response
  })
  assert.deepEqual([failed.status, folders.mirror.seen.length], [422, 1])
  assert.match(failed.body.message, /'steno models pull german' tries it again/)
})

test('a language without any model is rejected', async (t) => {
  const server = await start(t, await makeFolders(t))
  const wav = speakWav([{ language: 'de', seconds: 2 }])
  const json = {
    audio_url: await upload(server, wav),
    language_config: { languages: ['fr'] },
  }
  const { status } = await call(server, '/v2/pre-recorded', { json })
  assert.equal(status, 422)
})
