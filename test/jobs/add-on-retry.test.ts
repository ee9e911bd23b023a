import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../src/api/auth/generate-key.ts'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../support/audio/recordings.ts'
import { failAddOns, failure } from '../support/jobs/failed-add-ons.ts'
import { call, type ErrorBody, upload } from '../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../support/server/start-server.ts'

type Envelope = { success: boolean; exec_time: number; error: unknown; results: unknown }
type Result = Record<string, Envelope> & {
  transcription: { sentences: Envelope[]; subtitles: { subtitles: string }[] }
}
type Job = { result: Result } & Record<string, unknown>

let server: TestServer
let audioUrl: string
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('My name is Lena. It is terrible') })
  audioUrl = await upload(server, createToneWav(2))
})
after(() => server.close())

async function createDone(fields: Record<string, unknown>): Promise<string> {
  const json = { audio_url: audioUrl, ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  return body.id
}

async function jobOf(id: string): Promise<Job> {
  return (await call<Job>(server, `/v2/pre-recorded/${id}`)).body
}

function fail(id: string, names: readonly string[]): Promise<void> {
  return failAddOns(server, { id, names })
}

function retry<T = ErrorBody>(id: string, name: string, key = server.key) {
  const headers = { 'x-service-key': key }
  const path = `/v2/pre-recorded/${id}/addons/${name}/retry`
  return call<T>(server, path, { method: 'POST', headers })
}

/** Times of work are never twice the same. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item) => (key === 'exec_time' ? 0 : item)))
}

const everything = {
  sentences: true,
  subtitles: true,
  named_entity_recognition: true,
  sentiment_analysis: true,
  summarization: true,
  moderation: true,
  display_mode: true,
  chapters: true,
}

test('retrying each failed add-on restores the original result', async () => {
  const id = await createDone(everything)
  const first = await jobOf(id)
  await fail(id, Object.keys(everything))
  for (const name of Object.keys(everything)) {
    const { status, headers, body } = await retry<unknown>(id, name)
    assert.equal(status, 200, name)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    const { result } = await jobOf(id)
    const stands = name === 'subtitles' ? result.transcription.subtitles : result[name]
    assert.deepEqual(body, stands)
  }
  assert.deepEqual(withoutTimes(await jobOf(id)), withoutTimes(first))
})

test('of two concurrent retries one succeeds and the other is rejected', async () => {
  const id = await createDone(everything)
  await fail(id, ['sentences', 'summarization'])
  const names = ['sentences', 'summarization', 'sentences']
  const responses = await Promise.all(names.map((name) => retry(id, name)))
  const statuses = responses.map(({ status }) => status)
  assert.deepEqual(statuses, [200, 200, 422])
  const { sentences, summarization } = (await jobOf(id)).result
  assert.deepEqual([sentences!.success, summarization!.success], [true, true])
})

test('retrying an add-on without its engine fails again', async () => {
  const id = await createDone({ structured_data_extraction: true })
  const { status, body } = await retry<Envelope>(id, 'structured_data_extraction')
  assert.equal(status, 200)
  assert.deepEqual(withoutTimes(body), {
    ...failure,
    error: {
      status_code: 501,
      exception: 'NotConfigured',
      message:
        'structured_data_extraction is not available on this server: it needs a language model (STENO_LLM_URL)',
    },
  })
})

test('a retry that is not possible is rejected with the reason', async () => {
  const id = await createDone({ sentences: true, custom_spelling: false })
  for (const [name, status, code] of [
    ['nothing', 404, 'add_on_not_found'],
    ['__proto__', 404, 'add_on_not_found'],
    ['pii_redaction', 422, 'add_on_not_repeatable'],
    ['custom_vocabulary', 422, 'add_on_not_repeatable'],
    ['diarization', 422, 'add_on_not_repeatable'],
    ['subtitles', 422, 'add_on_not_requested'],
    ['sentences', 422, 'add_on_succeeded'],
  ] as const) {
    const { headers, body } = await retry(id, name)
    assert.deepEqual([body.statusCode, headers.get('x-error-code')], [status, code], name)
  }
})

test('retries of unknown, unfinished or foreign jobs are rejected', async () => {
  const id = await createDone({ sentences: true })
  await fail(id, ['sentences'])
  assert.equal((await retry(id, 'sentences', OTHER_KEY)).status, 404)
  assert.equal((await retry('no-id', 'sentences')).status, 404)
  const { body: live } = await call<{ id: string }>(server, '/v2/live', { json: {} })
  assert.equal((await retry(live.id, 'sentences')).status, 404)
  const broken = await upload(server, createToneWav(1))
  const { body: failing } = await call<{ id: string }>(server, '/v2/pre-recorded', {
    json: { audio_url: broken, sentences: true, language_config: { languages: ['en'] } },
  })
  const { db } = server.app.storage
  await server.app.jobs.idle()
  await db.sql
    .updateTable('jobs')
    .set({ status: 'error', error_code: 500, result: null })
    .where('id', '=', failing.id)
    .execute()
  const refused = await retry(failing.id, 'sentences')
  assert.deepEqual(
    [refused.status, refused.headers.get('x-error-code')],
    [422, 'job_not_done'],
    refused.body.message,
  )
  await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal((await retry(id, 'sentences')).status, 404)
})

test('a retry requires the scope write', async () => {
  const id = await createDone({ sentences: true })
  const { key } = await generateKey(server.app.storage.db, { account: 'test', scopes: ['read'] })
  const { status, headers } = await retry(id, 'sentences', key)
  assert.deepEqual([status, headers.get('x-error-code')], [403, 'scope_missing'])
})

test('a retry sends no callback', async () => {
  const callback_config = { url: 'http://127.0.0.1:9/nobody' }
  const id = await createDone({ sentences: true, callback: true, callback_config })
  await fail(id, ['sentences'])
  const { db } = server.app.storage
  const reported = () => {
    return db.sql.selectFrom('deliveries').select('id').where('job_id', '=', id).execute()
  }
  const before = await reported()
  assert.equal(before.length, 1)
  assert.equal((await retry(id, 'sentences')).status, 200)
  assert.deepEqual(await reported(), before)
})

test('a retried add-on gets only redacted words', async () => {
  const id = await createDone({ ...everything, pii_redaction: true })
  const first = await jobOf(id)
  await fail(id, Object.keys(everything))
  for (const name of Object.keys(everything)) assert.equal((await retry(id, name)).status, 200)
  const now = await jobOf(id)
  assert.doesNotMatch(JSON.stringify(now), /Lena/)
  assert.match(now.result.transcription.subtitles[0]!.subtitles, /\[NAME_GIVEN_1\]/)
  assert.deepEqual(withoutTimes(now), withoutTimes(first))
})
