import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { storeResultText } from '../../../src/storage/jobs/results.ts'
import { failLiveJob, finishLiveJob } from '../../../src/storage/live/live-jobs.ts'
import { defaultLiveParams as params } from '../../support/live/sessions/default-live-params.ts'
import { addLiveJob, beginNewLiveJob } from '../../support/live/sessions/test-live-jobs.ts'
import { call, type ErrorBody, sendRaw } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

type List = { items: (JobView & { result: { messages?: string[] } | null })[]; next: string | null }

const ID = '00000000-0000-0000-0000-000000000000'

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_MAX_PATCH_BYTES: '200' } })
})
after(() => server.close())

const result = {
  metadata: {
    audio_duration: 2,
    number_of_distinct_channels: 1,
    billing_time: 2,
    transcription_time: 0.4,
  },
  transcription: { full_transcript: ',"messages":[ said', languages: [], utterances: [] },
}

/** Messages that make a result as long as one needs. */
function messagesOf(length: number): string[] {
  return [JSON.stringify({ type: 'speech_start', padding: 'x'.repeat(length) })]
}

const database = () => server.app.storage.db

function open(given: Parameters<typeof addLiveJob>[1] = {}) {
  return addLiveJob(database(), { account: 'test', params, channels: 1, ...given })
}

/** A session that has ended with so many characters of messages; its recording are ten bytes. */
async function ended({ on = server, length = 10 } = {}) {
  const { db, objects } = on.app.storage
  const job = { account: 'test', params, channels: 1, customMetadata: { messages: [length] } }
  const { id, lease } = await beginNewLiveJob(db, job)
  const { body } = await call<JobView>(on, `/v2/live/${id}`)
  const { signal } = new AbortController()
  const bytes = Readable.from([Buffer.from('0123456789')])
  await objects.write(body.file!.id, bytes, { maxBytes: 10, signal })
  const text = JSON.stringify({ ...result, messages: messagesOf(length) })
  const pieces = Readable.from([text.slice(0, 50), text.slice(50)])
  const stored = await storeResultText(db, pieces)
  const file = { size: 10, duration: 2, channels: 1 }
  assert.ok(await finishLiveJob(db, lease, { result: stored, file, at: Date.now() }))
  return id
}

function patch(id: string, json: unknown, key = server.key) {
  return call<ErrorBody>({ ...server, key }, `/v2/live/${id}`, { method: 'PATCH', json })
}

async function reported(id: string): Promise<unknown> {
  return (await call<JobView>(server, `/v2/live/${id}`)).body.post_session_metadata
}

test('a session shows its file from the start, and its length at the end', async () => {
  const { id } = await open()
  const waiting = (await call<JobView>(server, `/v2/live/${id}`)).body
  const { id: fileId, ...file } = waiting.file!
  assert.match(fileId, /^[0-9a-f-]{36}$/)
  const unknown = { filename: null, source: null, audio_duration: null, number_of_channels: 1 }
  assert.deepEqual(file, unknown)
  assert.deepEqual([waiting.kind, waiting.status, waiting.result], ['live', 'queued', null])
  assert.deepEqual(waiting.request_params, params)
  const early = await call<ErrorBody>(server, `/v2/live/${id}/file`)
  assert.deepEqual([early.status, early.headers.get('x-error-code')], [404, 'file_not_found'])

  const done = await ended()
  const { body } = await call<JobView>(server, `/v2/live/${done}`)
  assert.deepEqual([body.status, body.file?.audio_duration], ['done', 2])
  assert.deepEqual(body.result, { ...result, messages: messagesOf(10) })
  const download = await call<string>(server, `/v2/live/${done}/file`)
  assert.deepEqual([download.status, download.body], [200, '0123456789'])
  const named = `attachment; filename="${body.file?.id}.wav"`
  assert.equal(download.headers.get('content-disposition'), named)
  assert.equal((await call(server, `/v2/pre-recorded/${done}`)).status, 404)
  assert.equal((await call(server, `/v2/transcription/${done}`)).status, 200)
})

test('an open session cannot be deleted, an ended one is deleted at once', async () => {
  const { id: queued } = await open()
  const { id: connected } = await beginNewLiveJob(database(), { account: 'test', params })
  for (const id of [queued, connected]) {
    const { status, headers } = await call(server, `/v2/live/${id}`, { method: 'DELETE' })
    assert.deepEqual([status, headers.get('x-error-code')], [403, 'job_active'])
  }
  const failure = { code: 408, message: 'Cannot wait longer for a connection' }
  await failLiveJob(database(), queued, { failure, at: Date.now() })
  for (const id of [queued, await ended(), await ended({ length: 300_000 })]) {
    const file = (await call<JobView>(server, `/v2/live/${id}`)).body.file!
    assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
    for (const path of ['', '/file'])
      assert.equal((await call(server, `/v2/live/${id}${path}`)).status, 404)
    assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 404)
    await assert.rejects(server.app.storage.objects.check(file.id), { code: 'file_not_found' })
  }
})

test('session metadata is replaced in every state', async () => {
  const { id } = await open()
  const { id: connected } = await beginNewLiveJob(database(), { account: 'test', params })
  for (const one of [id, connected, await ended()]) {
    const metadata = { device: 'kiosk-3', deep: { list: [1, null, 'ü'] } }
    const { status, body } = await patch(one, { post_session_metadata: metadata })
    assert.deepEqual([status, body], [204, ''])
    assert.deepEqual(await reported(one), metadata)
    await patch(one, { reconnects: 2 })
    assert.deepEqual(await reported(one), { reconnects: 2 })
    await patch(one, { post_session_metadata: null })
    assert.deepEqual(await reported(one), {})
    await patch(one, { ignored: 1, post_session_metadata: { a: 2 } })
    assert.deepEqual(await reported(one), { a: 2 })
  }
})

test('a failed session keeps its metadata', async () => {
  const { id } = await open()
  await patch(id, { device: 'kiosk-3' })
  const failure = { code: 408, message: 'Cannot wait longer for a connection' }
  await failLiveJob(database(), id, { failure, at: Date.now() })
  assert.deepEqual(await reported(id), { device: 'kiosk-3', failure })
})

test('session metadata must be a JSON object of limited size', async () => {
  const { id } = await open()
  for (const [json, status, lines] of [
    [[], 400, undefined],
    ['text', 400, undefined],
    [null, 400, undefined],
    [5, 400, undefined],
    [{ post_session_metadata: [] }, 400, ['post_session_metadata must be an object']],
    [{ post_session_metadata: 'text' }, 400, ['post_session_metadata must be an object']],
    [{ a: 'x'.repeat(200) }, 413, undefined],
    [{ a: 'x'.repeat(200 - '{"a":""}'.length) }, 204, undefined],
  ] as const) {
    const response = await patch(id, json)
    assert.deepEqual([response.status, response.body.validation_errors], [status, lines])
    if (status === 413)
      assert.match(response.body.message, /200 bytes.* \(STENO_MAX_PATCH_BYTES\)$/)
  }
  const send = (headers: Record<string, string>, body: string) =>
    call(server, `/v2/live/${id}`, { method: 'PATCH', headers, body })
  assert.equal((await send({ 'content-type': 'text/plain' }, '{}')).status, 415)
  assert.equal((await send({ 'content-type': 'application/json' }, '{')).status, 400)
  assert.equal((await send({ 'content-type': 'application/json' }, '')).status, 400)
  const bare = `PATCH /v2/live/${id} HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\nconnection: close\r\n\r\n`
  assert.match(await sendRaw(server, bare), /^HTTP\/1.1 415 /)
})

test('metadata of unknown, pre-recorded or foreign jobs is rejected', async () => {
  const { id } = await open()
  const audio_url = 'http://127.0.0.1:9/a.wav'
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
  for (const other of [ID, 'abc', body.id]) {
    const { status, headers } = await patch(other, {})
    assert.deepEqual([status, headers.get('x-error-code')], [404, 'job_not_found'])
  }
  assert.equal((await patch(id, {}, OTHER_KEY)).status, 404)
  const wrong = await call(server, `/v2/pre-recorded/${body.id}`, { method: 'PATCH', json: {} })
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'DELETE, GET, HEAD'])
  const { key } = await generateKey(database(), { account: 'test', scopes: ['read', 'write'] })
  assert.equal((await patch(id, {}, key)).status, 403)
})

test('lists find sessions by kind, status and metadata', async (t) => {
  const second = await startServer()
  t.after(() => second.close())
  const { db } = second.app.storage
  const common = { account: 'test', params, channels: 1 }
  const queued = await addLiveJob(db, { ...common, customMetadata: { room: '42' } })
  const connected = await beginNewLiveJob(db, { ...common, customMetadata: { room: 42, x: 1 } })
  await addLiveJob(db, { ...common, account: 'other' })
  const audio_url = 'http://127.0.0.1:9/a.wav'
  const custom_metadata = { room: '42' }
  await call(second, '/v2/pre-recorded', { json: { audio_url, custom_metadata } })
  for (const [path, ids] of [
    ['/v2/live', [connected.id, queued.id]],
    ['/v2/live?status=queued', [queued.id]],
    ['/v2/live?status=processing&status=done', [connected.id]],
    ['/v2/live?custom_metadata[room]=42', [connected.id, queued.id]],
    ['/v2/live?custom_metadata={"x":1}', [connected.id]],
    ['/v2/transcription?kind=live&custom_metadata[room]=42&status=queued', [queued.id]],
  ] as const) {
    const { body } = await call<List>(second, path)
    assert.deepEqual(
      body.items.map(({ id }) => id),
      ids,
      path,
    )
  }
  const both = await call<List>(second, '/v2/transcription?custom_metadata[room]=42')
  assert.equal(both.body.items.length, 3)
})

test('STENO_LIST_OMIT_MESSAGES omits messages from lists only', async (t) => {
  const brief = await startServer({ env: { STENO_LIST_OMIT_MESSAGES: 'true' } })
  t.after(() => brief.close())
  const lengths = [1, 300_000, 10]
  for (const on of [server, brief]) {
    for (const length of lengths) {
      const id = await ended({ on, length })
      const { body } = await call<List['items'][0]>(on, `/v2/live/${id}`)
      assert.deepEqual(body.result?.messages, messagesOf(length))
    }
  }
  const whole = await call<List>(server, '/v2/live?status=done&limit=3')
  const kept = whole.body.items.map((item) => item.result?.messages)
  assert.deepEqual(kept, lengths.toReversed().map(messagesOf))
  for (const path of ['/v2/live', '/v2/transcription']) {
    const { body } = await call<List>(brief, path)
    for (const item of body.items) assert.equal(item.result?.messages, undefined)
    assert.deepEqual(
      body.items.map((item) => item.result),
      lengths.map(() => result),
    )
  }
})
