import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { takeBackup } from '../../../src/storage/backup/take-backup.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { noise, waveOf } from '../../support/audio/noise.ts'
import { openReceiver, type Receiver } from '../../support/delivery/receiver.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { allFlags } from '../../support/live/sessions/live-flags.ts'
import { audioForm, call, type Uploaded } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'

const spoken = 'A ship to Zanzibar leaves.'
const samples = noise(2, 1)
const recording = waveOf([samples])
const audio = Buffer.from(samples.slice(16_000, 16_064).buffer)
const texts = ['Zanzibar', 'zanzibar', 'Umbriel', 'Quagmire', 'patient.wav', 'ward-7']
const needles = [audio, ...texts.map((text) => Buffer.from(text))]
/** What a customer says, beside the recording. */
const said = {
  custom_metadata: { person: 'Umbriel' },
  custom_vocabulary: true,
  custom_vocabulary_config: { vocabulary: ['Quagmire'] },
}

type Gate = { came: PromiseWithResolvers<void>; go: PromiseWithResolvers<void> }
/** While it is set, batches wait at it. */
let gate: Gate | undefined
async function onBatch(_batch: unknown, signal: AbortSignal): Promise<void> {
  gate?.came.resolve()
  if (gate) await Promise.race([gate.go.promise, once(signal, 'abort')])
  signal.throwIfAborted()
}

/** Creates a job, and resolves when it runs. */
async function createHeld(): Promise<{ id: string; go(): void }> {
  const held = { came: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() }
  gate = held
  const id = await create()
  await held.came.promise
  gate = undefined
  return { id, go: () => held.go.resolve() }
}

let server: TestServer
let receiver: Receiver
before(async () => {
  receiver = await openReceiver()
  server = await startServer({
    speech: createFakeSpeechEngine(spoken, { onBatch }),
    env: { STENO_ZERO_RETENTION: 'test,third' },
  })
})
after(async () => {
  await server.close()
  await receiver.close()
})

type Key = { headers?: Record<string, string> }

/** Uploads the recording and creates a job of it; returns its id. */
async function create(params: Record<string, unknown> = {}, key: Key = {}): Promise<string> {
  const body = audioForm(recording, 'patient.wav')
  const { audio_url } = (await call<Uploaded>(server, '/v2/upload', { body, ...key })).body
  const json = { audio_url, ...said, ...params }
  const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json, ...key })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  return created.body.id
}

function callTo(path: string, flags: object = {}) {
  return { callback: true, callback_config: { url: receiver.url + path, ...flags } }
}

async function findJobIds(): Promise<string[]> {
  const rows = await server.app.storage.db.sql.selectFrom('jobs').select('id').execute()
  return rows.map(({ id }) => id)
}

/** Resolves when a job is deleted: that follows a response, or the end of a connection, at once. */
async function untilGone(id: string): Promise<void> {
  while ((await findJobIds()).includes(id)) await setImmediate()
  // The folder of a session goes after its job.
  while (existsSync(join(server.folder, 'live', id))) await setImmediate()
}

/** Returns the files of the data folder that hold anything of a customer. */
async function findTraces(among = needles): Promise<string[]> {
  const { sql } = server.app.storage.db
  await sql.executeQuery({ sql: 'pragma wal_checkpoint(truncate)', parameters: [] } as never)
  return filesHolding(server.folder, among)
}

async function statusOf(path: string): Promise<number> {
  return (await call(server, path)).status
}

test('no byte remains of a job that a callback accepted', async () => {
  const id = await create(callTo('/ward-7'))
  await receiver.until('/ward-7', 1)
  assert.match(receiver.at('/ward-7')[0]!.body, /Zanzibar.*Umbriel/)
  await server.app.delivery.idle()
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 404)
  assert.deepEqual(await findTraces(), [])
})

test('a result that was read leaves no byte; its recording is deleted before', async () => {
  const id = await create()
  await server.app.jobs.idle()
  assert.deepEqual(await findTraces([audio]), [], 'the recording goes with the end of the job')
  assert.notDeepEqual(await findTraces(), [], 'the result would be found')
  for (const path of ['/v2/pre-recorded', `/v2/pre-recorded/${id}/progress`]) {
    assert.equal(await statusOf(path), 200)
  }
  await call(server, `/v2/pre-recorded/${id}`, { method: 'HEAD' })
  assert.deepEqual(await findJobIds(), [id], 'a list, progress and HEAD are no reading')
  const { body } = await call(server, `/v2/pre-recorded/${id}`)
  assert.match(JSON.stringify(body), /Zanzibar/)
  await untilGone(id)
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 404)
  assert.deepEqual(await findTraces(), [])
})

test('a deletion by request leaves no byte in the log of the database either', async () => {
  const id = await create()
  await server.app.jobs.idle()
  assert.notDeepEqual(await filesHolding(server.folder, needles), [], 'the result would be found')
  const { status } = await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal(status, 202)
  assert.deepEqual(await filesHolding(server.folder, needles), [])
})

test('reading a running job does not count as reading its result', async () => {
  const { id, go } = await createHeld()
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 200)
  go()
  await server.app.jobs.idle()
  assert.deepEqual(await findJobIds(), [id])
  assert.equal(await statusOf(`/v2/pre-recorded/${id}/transcript?format=srt`), 200)
  await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

test('a zero-retention transcription remains only in the OpenAI response', async () => {
  const form = new FormData()
  form.set('file', new Blob([recording]), 'patient.wav')
  form.set('prompt', 'Quagmire')
  const { body } = await call(server, '/v1/audio/transcriptions', { method: 'POST', body: form })
  assert.match(JSON.stringify(body), /Zanzibar/)
  for (const id of await findJobIds()) await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

test("a canceled job's recording is deleted at once, the rest after it was read", async () => {
  const { id } = await createHeld()
  assert.notDeepEqual(await findTraces([audio]), [], 'it would be found')
  const canceled = await call(server, `/v2/pre-recorded/${id}/cancel`, { method: 'POST' })
  assert.equal(canceled.status, 202)
  await server.app.jobs.idle()
  assert.deepEqual(await findTraces([audio]), [])
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 200)
  await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

async function speak(params: Record<string, unknown>): Promise<string> {
  const { id, url } = await openSession(server, {
    ...params,
    custom_metadata: said.custom_metadata,
  })
  const client = await connect(url)
  client.send(recording.subarray(44))
  client.stop()
  await client.closed
  return id
}

test('a session whose client received its end leaves no byte', async () => {
  const messages_config = { receive_post_processing_events: true }
  const id = await speak({ messages_config })
  await untilGone(id)
  assert.equal(await statusOf(`/v2/live/${id}`), 404)
  assert.deepEqual(await findTraces(), [])
})

test('a session whose client skips the result waits for its callback or a reader', async () => {
  const messages_config = { receive_post_processing_events: false }
  const id = await speak({ messages_config })
  assert.equal(await statusOf(`/v2/live/${id}`), 200)
  await untilGone(id)
  const called = await speak({ messages_config, ...callTo('/ward-7/live', allFlags) })
  await untilGone(called)
  const last = receiver.at('/ward-7/live').map(({ body }) => JSON.parse(body).event as string)
  assert.deepEqual(last.slice(-2), ['live.post_final_transcript', 'live.end_session'])
  assert.deepEqual(await findTraces(), [])
})

test('usage and jobs of other accounts are kept', async (t) => {
  const mine = await create()
  const key = { headers: { 'x-service-key': OTHER_KEY } }
  const theirs = await create({ custom_metadata: { of: 'others' } }, key)
  await server.app.jobs.idle()
  assert.equal((await call(server, `/v2/pre-recorded/${theirs}`, key)).status, 200)
  const target = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(target, { recursive: true }))
  const { signal } = new AbortController()
  const zeroRetention = ['test', 'third']
  const options = { folder: server.folder, key: undefined, keep: 1, zeroRetention, signal }
  await takeBackup({ ...options, target: join(target, 'backup') })
  assert.deepEqual(await filesHolding(target, [Buffer.from('Umbriel')]), [])
  assert.notDeepEqual(await filesHolding(target, [Buffer.from(theirs)]), [])
  assert.equal(await statusOf(`/v2/pre-recorded/${mine}`), 200)
  await untilGone(mine)
  assert.deepEqual(await findJobIds(), [theirs])
  const { items } = (await call<{ items: { jobs: number }[] }>(server, '/v2/usage')).body
  assert.ok(items.reduce((sum, { jobs }) => sum + jobs, 0) >= 4)
})
