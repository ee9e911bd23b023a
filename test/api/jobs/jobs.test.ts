import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import type { SubmitRequest } from '../../../src/jobs/job-service.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

type Created = { id: string; result_url: string }
type Result = {
  metadata: { audio_duration: number; number_of_distinct_channels: number; billing_time: number }
  transcription: {
    full_transcript: string
    utterances: { text: string; channel: number; words: { word: string; start: number }[] }[]
  }
} & Record<string, unknown>

let server: TestServer
let audioUrl: string

before(async () => {
  server = await startServer()
  audioUrl = await upload(server, createToneWav(6, 2))
})
after(() => server.close())

function create(fields: Record<string, unknown> = {}, path = '/v2/pre-recorded') {
  return call<Created>(server, path, { json: { audio_url: audioUrl, ...fields } })
}

async function createDone(fields: Record<string, unknown> = {}): Promise<JobView> {
  const { body } = await create(fields)
  await server.app.jobs.idle()
  return (await call<JobView>(server, body.result_url)).body
}

test('a job goes from 201 to a transcript at its result_url', async () => {
  const created = await create({ custom_metadata: { team: 'red', deep: { none: null } } })
  assert.equal(created.status, 201)
  assert.deepEqual(Object.keys(created.body), ['id', 'result_url'])
  assert.match(created.body.id, UUID)
  assert.equal(created.body.result_url, `${server.url}/v2/pre-recorded/${created.body.id}`)

  await server.app.jobs.idle()
  const { status, headers, body } = await call<JobView>(server, created.body.result_url)
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  const { result, created_at, completed_at, request_params, ...rest } = body
  assert.match(created_at, DATE)
  assert.match(completed_at ?? '', DATE)
  assert.equal(request_params?.audio_url, audioUrl)
  assert.deepEqual(rest, {
    id: created.body.id,
    request_id: `G-${created.body.id.slice(0, 8)}`,
    version: 2,
    status: 'done',
    custom_metadata: { team: 'red', deep: { none: null } },
    error_code: null,
    post_session_metadata: {},
    kind: 'pre-recorded',
    file: {
      id: audioUrl.split('/').at(-1),
      filename: 'talk.wav',
      source: null,
      audio_duration: 6,
      number_of_channels: 2,
    },
  })
  const { metadata, transcription } = result as Result
  assert.equal(metadata.number_of_distinct_channels, 2)
  assert.equal(metadata.billing_time, 12)
  for (const { text, words } of transcription.utterances) {
    assert.equal(words.map(({ word }) => word).join(''), text)
    assert.equal(text, text.trim())
  }
  const texts = transcription.utterances.map(({ text }) => text)
  assert.equal(transcription.full_transcript, texts.join(' '))
  assert.deepEqual(
    [...new Set(transcription.utterances.map(({ channel }) => channel))].sort(),
    [0, 1],
  )
})

test('a waiting job shows every key, with null where there is no value yet', async (t) => {
  const held = Promise.withResolvers<void>()
  const speech = createFakeSpeechEngine('hello world', { onBatch: () => held.promise })
  const slow = await startServer({ speech })
  t.after(async () => {
    held.resolve()
    await slow.close()
  })
  const address = await upload(slow, createToneWav(1))
  const { body: created } = await call<Created>(slow, '/v2/pre-recorded', {
    json: { audio_url: address },
  })
  const { body } = await call<JobView>(slow, created.result_url)
  assert.ok(body.status === 'queued' || body.status === 'processing')
  assert.deepEqual(
    [body.completed_at, body.error_code, body.result, body.post_session_metadata],
    [null, null, null, {}],
  )
  assert.ok(!('custom_metadata' in body))

  const progress = await call(slow, `/v2/pre-recorded/${created.id}/progress`)
  assert.deepEqual(Object.keys(progress.body), ['status', 'stage', 'fraction', 'seconds_left'])

  const refused = await call<ErrorBody>(slow, created.result_url, { method: 'DELETE' })
  assert.equal(refused.status, 403)
  held.resolve()
  await slow.app.jobs.idle()
  assert.equal((await call(slow, created.result_url, { method: 'DELETE' })).status, 202)
})

test('progress?wait responds when the job ends or the wait is over', async (t) => {
  const held = Promise.withResolvers<void>()
  const speech = createFakeSpeechEngine('hello world', { onBatch: () => held.promise })
  const slow = await startServer({ speech })
  t.after(async () => {
    held.resolve()
    await slow.close()
  })
  const address = await upload(slow, createToneWav(1))
  const json = { audio_url: address }
  const { body: created } = await call<Created>(slow, '/v2/pre-recorded', { json })
  const progress = async (wait: string) => {
    const path = `/v2/pre-recorded/${created.id}/progress?wait=${wait}`
    const startedAt = performance.now()
    const { status, body } = await call<{ status: string }>(slow, path)
    return { status, body, seconds: (performance.now() - startedAt) / 1000 }
  }
  const early = await progress('1')
  assert.notEqual(early.body.status, 'done')
  assert.ok(early.seconds >= 0.9, `answered after ${early.seconds} s`)

  const waiting = progress('10')
  held.resolve()
  const ended = await waiting
  assert.equal(ended.body.status, 'done')
  assert.ok(ended.seconds < 9, `answered after ${ended.seconds} s`)
  assert.equal((await progress('11')).status, 400)
})

test('a deleted job is gone from every route', async () => {
  const address = await upload(server, createToneWav(1))
  const { id } = await createDone({ audio_url: address })
  const path = `/v2/pre-recorded/${id}`
  const deleted = await call<string>(server, path, { method: 'DELETE' })
  assert.deepEqual([deleted.status, deleted.body], [202, ''])
  for (const [method, target] of [
    ['DELETE', path],
    ['GET', path],
    ['GET', `${path}/file`],
    ['GET', `${path}/progress`],
    ['GET', `/v2/transcription/${id}`],
    ['GET', address],
  ] as const) {
    assert.equal((await call(server, target, { method })).status, 404, `${method} ${target}`)
  }
  const list = await call<{ items: JobView[] }>(server, '/v2/pre-recorded?limit=1000')
  assert.ok(list.body.items.every((job) => job.id !== id))
})

test('DELETE accepts any content type and body', async () => {
  const { id } = await createDone()
  const headers = { 'content-type': 'application/json' }
  const { status } = await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE', headers })
  assert.equal(status, 202)
})

test('an id of another kind or unknown gets 404 on every route', async () => {
  const { id: recorded } = await createDone()
  const live = '7e0a4c0e-1f5b-4d0b-8a0e-0c7c1f3e5d21'
  const row = {
    account: 'test',
    kind: 'live',
    status: 'done',
    created_at: Date.now(),
    run_after: 0,
  }
  await server.app.storage.db.sql
    .insertInto('jobs')
    .values({ ...row, id: live, post_session_metadata: '{}' } as never)
    .execute()
  const unknown = ['00000000-0000-0000-0000-000000000000', 'abc', '%00', '..%2f', 'x'.repeat(3000)]
  const cases = [
    ...unknown.flatMap((id) => [
      ['GET', `/file/${id}`],
      ...['pre-recorded', 'live', 'transcription'].flatMap((kind) => [
        ['GET', `/v2/${kind}/${id}`],
        ['GET', `/v2/${kind}/${id}/file`],
        ['DELETE', `/v2/${kind}/${id}`],
      ]),
    ]),
    ['GET', `/v2/pre-recorded/${live}`],
    ['GET', `/v2/pre-recorded/${live}/file`],
    ['GET', `/v2/pre-recorded/${live}/progress`],
    ['DELETE', `/v2/pre-recorded/${live}`],
    ['GET', `/v2/live/${recorded}`],
    ['DELETE', `/v2/live/${recorded}`],
  ] as const
  for (const [method, path] of cases) {
    const { status, body } = await call<ErrorBody>(server, path, { method })
    assert.deepEqual([status, body.statusCode], [404, 404], `${method} ${path.slice(0, 60)}`)
  }
  assert.equal((await call(server, `/v2/live/${live}`)).status, 200)
  assert.equal((await call(server, `/v2/transcription/${live}`)).status, 200)
  assert.equal((await call(server, `/v2/live/${live}`, { method: 'DELETE' })).status, 202)
})

test('an id in capitals is found', async () => {
  const { id } = await createDone()
  for (const path of [
    `/v2/pre-recorded/${id.toUpperCase()}`,
    `/v2/transcription/${id.toUpperCase()}/file`,
  ]) {
    assert.equal((await call(server, path)).status, 200, path)
  }
})

test('an upload is found by its id in capitals, under any name of the server', async () => {
  const file = `/file/${new URL(audioUrl).pathname.split('/')[2]!.toUpperCase()}`
  for (const base of [server.url, 'http://stt.example']) {
    const { body } = await create({ audio_url: base + file })
    const job = await call<JobView>(server, body.result_url)
    assert.deepEqual([job.status, job.body.file?.source], [200, null], base)
  }
})

test('jobs and files of another account get 404', async () => {
  const { id } = await createDone()
  const other = { ...server, key: OTHER_KEY }
  for (const path of [`/v2/pre-recorded/${id}`, `/v2/pre-recorded/${id}/file`, audioUrl]) {
    assert.equal((await call(other, path)).status, 404, path)
  }
  assert.equal((await call(other, `/v2/pre-recorded/${id}`, { method: 'DELETE' })).status, 404)
  const list = await call<{ items: unknown[] }>(other, '/v2/pre-recorded')
  assert.deepEqual(list.body.items, [])
  const theft = await call<ErrorBody>(other, '/v2/pre-recorded', { json: { audio_url: audioUrl } })
  assert.equal(theft.status, 400)
})

test('deprecated routes behave the same and send a Deprecation header', async () => {
  const created = await create({}, '/v2/transcription')
  assert.equal(created.status, 201)
  assert.equal(created.headers.get('deprecation'), 'true')
  const path = `/v2/transcription/${created.body.id}`
  assert.equal(created.body.result_url, server.url + path)
  await server.app.jobs.idle()
  const { body, headers } = await call<JobView>(server, path)
  assert.equal(headers.get('deprecation'), 'true')
  assert.equal(body.status, 'done')
  assert.equal((await call(server, `${path}/file`)).status, 200)
  const unknown = { headers: { 'x-service-key': 'unknown' } }
  const refused = await call(server, '/v2/transcription', unknown)
  assert.deepEqual([refused.status, refused.headers.get('deprecation')], [401, 'true'])
  assert.equal((await call(server, `/v2/pre-recorded/${body.id}`)).headers.get('deprecation'), null)
  assert.equal((await call(server, path, { method: 'DELETE' })).status, 202)
})

test('a job with a remote URL is created before the fetch and shows its source', async () => {
  const source = `${server.url}/health?file=/talks/my%20talk.mp3`
  const job = await createDone({ audio_url: source })
  assert.equal(job.status, 'error')
  assert.equal(job.error_code, 415)
  assert.equal(job.result, null)
  assert.equal(job.file?.source, source)
  assert.deepEqual(Object.keys(job.post_session_metadata), ['failure'])
})

test('an account with too many waiting jobs gets 429 with Retry-After', async (t) => {
  const held = Promise.withResolvers<void>()
  const speech = createFakeSpeechEngine('hello', { onBatch: () => held.promise })
  const env = { STENO_MAX_QUEUED_JOBS: '1', STENO_MAX_CONCURRENT_JOBS: '1' }
  const full = await startServer({ speech, env })
  t.after(async () => {
    held.resolve()
    await full.close()
  })
  const json = { audio_url: await upload(full, createToneWav(1)) }
  const responses = []
  for (let i = 0; i < 3; i++)
    responses.push(await call<ErrorBody>(full, '/v2/pre-recorded', { json }))
  const refused = responses.find(({ status }) => status === 429)
  assert.ok(refused)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
})

test('an upload deleted while its job is created gets 400', async (t) => {
  const { service } = server.app.jobs
  const submit = service.submit.bind(service)
  // As if its last job had been deleted after the request was read.
  t.mock.method(service, 'submit', (account: string, request: SubmitRequest) => {
    return submit(account, { ...request, fileId: randomUUID() })
  })
  const { status, body } = await call<ErrorBody>(server, '/v2/pre-recorded', {
    json: { audio_url: await upload(server, createToneWav(1)) },
  })
  assert.equal(status, 400)
  assert.deepEqual(body.validation_errors, ['audio_url must name an uploaded file that exists'])
})
