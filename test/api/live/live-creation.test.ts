import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { failLiveJob } from '../../../src/storage/live/live-jobs.ts'
import { defaultLiveParams } from '../../support/live/sessions/default-live-params.ts'
import { call, type ErrorBody, sendRaw } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

type Created = { id: string; created_at: string; url: string }

const SESSIONS = 40

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_MAX_LIVE_SESSIONS: String(SESSIONS) } })
})
after(() => server.close())

function create(json: unknown = {}, headers: Record<string, string> = {}, on = server) {
  return call<Created & ErrorBody>(on, '/v2/live', { json, headers })
}

async function created(json: unknown = {}, headers: Record<string, string> = {}, on = server) {
  const { status, body } = await create(json, headers, on)
  assert.equal(status, 201, JSON.stringify(body))
  return body as Created
}

async function paramsOf(json: unknown) {
  const { id } = await created(json)
  return (await call<JobView>(server, `/v2/live/${id}`)).body.request_params!
}

/** Ends a session as one that was never connected. */
async function end({ app }: TestServer, id: string): Promise<void> {
  const failure = { code: 408, message: 'Cannot wait longer for a connection' }
  assert.ok(await failLiveJob(app.storage.db, id, { failure, at: Date.now() }))
}

test('a session created from an empty body shows all defaults', async () => {
  const { status, body } = await create()
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['id', 'created_at', 'url'])
  const { protocol, host, pathname, searchParams } = new URL(body.url)
  assert.deepEqual([protocol, pathname], ['ws:', '/v2/live'])
  assert.equal(host, new URL(server.url).host)
  assert.deepEqual([...searchParams.keys()], ['token'])
  // 128 bits need 22 characters of base64url.
  assert.match(searchParams.get('token')!, /^[\w-]{22,}$/)
  assert.ok(!body.url.includes(body.id))

  const job = (await call<JobView>(server, `/v2/live/${body.id}`)).body
  assert.ok(Math.abs(Date.parse(body.created_at) - Date.now()) < 60_000)
  const { id: fileId, ...file } = job.file!
  assert.notEqual(fileId, body.id)
  assert.deepEqual(file, {
    filename: null,
    source: null,
    audio_duration: null,
    number_of_channels: 1,
  })
  const { file: _, ...shown } = job
  assert.deepEqual(shown, {
    id: body.id,
    request_id: `G-${body.id.slice(0, 8)}`,
    version: 2,
    status: 'queued',
    created_at: body.created_at,
    completed_at: null,
    error_code: null,
    post_session_metadata: {},
    kind: 'live',
    request_params: defaultLiveParams,
    result: null,
  })
})

test('requested session parameters are shown with defaults for the rest', async () => {
  const body = {
    encoding: 'wav/ulaw',
    bit_depth: 16,
    sample_rate: 8000,
    channels: 2,
    language_config: { languages: ['en'] },
    realtime_processing: {
      translation: true,
      translation_config: { target_languages: ['fr'] },
      words_accurate_timestamps: true,
    },
    post_processing: { summarization: true, summarization_config: { type: 'concise' } },
    messages_config: { receive_partial_transcripts: true, receive_lifecycle_events: true },
    callback: true,
    callback_config: { url: 'https://app.example.test/hooks/live', receive_errors: true },
    custom_metadata: { room: '42' },
    chapterization: true,
  }
  const { id } = await created(body)
  const job = (await call<JobView>(server, `/v2/live/${id}`)).body
  assert.deepEqual(job.custom_metadata, { room: '42' })
  assert.equal(job.file?.number_of_channels, 2)
  const params = job.request_params as Record<string, Record<string, unknown>>
  assert.deepEqual([params.bit_depth, params.channels], [8, 2])
  assert.equal(params.custom_metadata, undefined)
  assert.equal(params.chapterization, undefined)
  assert.equal(params.realtime_processing?.words_accurate_timestamps, undefined)
  assert.deepEqual(params.realtime_processing?.translation_config, {
    target_languages: ['fr'],
    model: 'base',
    match_original_utterances: true,
    lipsync: true,
    context_adaptation: true,
    informal: false,
  })
  assert.deepEqual(params.callback_config, {
    url: 'https://app.example.test/hooks/live',
    receive_partial_transcripts: false,
    receive_final_transcripts: true,
    receive_speech_events: false,
    receive_pre_processing_events: true,
    receive_realtime_processing_events: true,
    receive_post_processing_events: true,
    receive_acknowledgments: false,
    receive_errors: true,
    receive_lifecycle_events: true,
  })
})

test('nulls, unknown fields and a region are ignored', async () => {
  const nothing = { encoding: null, language_config: null, messages_config: null, color: 'red' }
  assert.deepEqual(await paramsOf(nothing), await paramsOf({}))
  const { status } = await call(server, '/v2/live?region=moon', { json: {} })
  assert.equal(status, 201)
})

for (const [json, line] of [
  [{ endpointing: 0.009 }, 'endpointing must not be less than 0.01'],
  [{ endpointing: 10.1 }, 'endpointing must not be greater than 10'],
  [{ endpointing: '1' }, 'endpointing must be a number'],
  [{ channels: 0 }, 'channels must not be less than 1'],
  [{ channels: 9 }, 'channels must not be greater than 8'],
  [{ channels: 1.5 }, 'channels must be an integer'],
  [{ sample_rate: 22050 }, 'sample_rate must be one of: 8000, 16000, 32000, 44100, 48000'],
  [{ bit_depth: 12 }, 'bit_depth must be one of: 8, 16, 24, 32'],
  [{ model: 'stt-3' }, 'model must be one of: stt-1'],
  [
    { pre_processing: { speech_threshold: 1.5 } },
    'pre_processing.speech_threshold must not be greater than 1',
  ],
  [
    { realtime_processing: { translation: true } },
    'realtime_processing.translation_config is required',
  ],
  [{ callback: true }, 'callback_config.url is required'],
] as const) {
  test(`${JSON.stringify(json)} gets 400: ${line}`, async () => {
    const { status, body } = await create(json)
    assert.deepEqual([status, body.validation_errors], [400, [line]])
  })
}

test('several errors are reported at once', async () => {
  const { status, body } = await create({ channels: 0, endpointing: 0, callback: 'yes' })
  assert.deepEqual([status, body.path], [400, '/v2/live'])
  assert.deepEqual(body.validation_errors, [
    'channels must not be less than 1',
    'endpointing must not be less than 0.01',
    'callback must be a boolean',
  ])
})

test('a body that is not a JSON object is rejected', async () => {
  for (const json of [[], null, 'text', 5]) assert.equal((await create(json)).status, 400)
  const send = (type: string, body: string) =>
    call(server, '/v2/live', { method: 'POST', headers: { 'content-type': type }, body })
  assert.equal((await send('application/json', '{')).status, 400)
  assert.equal((await send('text/plain', '{}')).status, 415)
  const bare = `POST /v2/live HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\nconnection: close\r\n\r\n`
  assert.match(await sendRaw(server, bare), /^HTTP\/1.1 415 /)
})

test('a language without a model gets 422', async () => {
  const { status, headers, body } = await create({ language_config: { languages: ['fr'] } })
  assert.deepEqual([status, headers.get('x-error-code')], [422, 'language_not_installed'])
  const [line] = (body as { validation_errors?: string[] }).validation_errors!
  assert.match(line!, /^language_config\.languages must name a language of an installed model: /)
})

test('creating a session requires the scope live', async () => {
  const { db } = server.app.storage
  const keyFor = async (scopes: ('read' | 'write' | 'live')[]) =>
    ({ 'x-service-key': (await generateKey(db, { account: 'test', scopes })).key }) as const
  assert.equal((await create({}, await keyFor(['read', 'write']))).status, 403)
  assert.equal((await create({}, await keyFor(['live']))).status, 201)
})

test('a repeated idempotent creation gets the first response, even after deletion', async () => {
  const named = (name: string) => ({ 'idempotency-key': name })
  const first = await created({ channels: 2, endpointing: 1 }, named('one'))
  assert.deepEqual(await created({ endpointing: 1, channels: 2 }, named('one')), first)
  const other = await create({ channels: 1 }, named('one'))
  assert.deepEqual([other.status, other.headers.get('x-error-code')], [422, 'idempotency_conflict'])
  const elsewhere = await call(server, '/v2/pre-recorded', {
    json: { audio_url: 'http://127.0.0.1:9/a.wav' },
    headers: named('one'),
  })
  assert.equal(elsewhere.status, 422)
  const foreign = await created({}, { ...named('one'), 'x-service-key': OTHER_KEY })
  assert.notEqual(foreign.id, first.id)
  const together = Array.from({ length: 5 }, () => created({}, named('two')))
  assert.equal(new Set((await Promise.all(together)).map(({ url }) => url)).size, 1)

  await end(server, first.id)
  assert.equal((await call(server, `/v2/live/${first.id}`, { method: 'DELETE' })).status, 202)
  assert.deepEqual(await created({ channels: 2, endpointing: 1 }, named('one')), first)
})

test('the number of open sessions of an account is limited', async (t) => {
  const limited = await startServer({ env: { STENO_MAX_LIVE_SESSIONS: '2' } })
  t.after(() => limited.close())
  const { id } = await created({}, {}, limited)
  await created({}, { 'idempotency-key': 'two' }, limited)
  const { status, headers, body } = await create({}, {}, limited)
  assert.deepEqual([status, headers.get('x-error-code')], [429, 'too_many_sessions'])
  assert.match(headers.get('retry-after')!, /^[1-9]\d*$/)
  assert.equal(body.statusCode, 429)
  await created({}, { 'idempotency-key': 'two' }, limited)
  assert.equal((await create({ channels: 0 }, {}, limited)).status, 400, 'the body is judged first')
  await created({}, { 'x-service-key': OTHER_KEY }, limited)
  await end(limited, id)
  await created({}, {}, limited)
})

test('sessions created at once have distinct creation times', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => created()))
  assert.equal(new Set(all.map(({ created_at }) => created_at)).size, 10)
  const urls = new Set(all.map(({ url }) => url))
  assert.equal(urls.size, 10)
  for (const { id, created_at } of all) {
    const { body } = await call<JobView>(server, `/v2/live/${id}`)
    assert.equal(body.created_at, created_at)
  }
})

test('the socket URL follows the public WebSocket or base URL', async (t) => {
  for (const [env, begin] of [
    [{ STENO_PUBLIC_BASE_URL: 'https://a.example/stt/' }, 'wss://a.example/stt/v2/live?token='],
    [
      {
        STENO_PUBLIC_BASE_URL: 'https://a.example/stt',
        STENO_PUBLIC_WS_BASE_URL: 'ws://b.example:81',
      },
      'ws://b.example:81/stt/v2/live?token=',
    ],
    [{ STENO_PUBLIC_WS_BASE_URL: 'wss://b.example/x' }, 'wss://b.example/x/v2/live?token='],
  ] as const) {
    const configured = await startServer({ env })
    t.after(() => configured.close())
    const { url } = await created({}, {}, configured)
    assert.ok(url.startsWith(begin), url.replace(/token=.*/, ''))
  }
  const proxied = await startServer({ env: { STENO_TRUST_PROXY: 'true' } })
  t.after(() => proxied.close())
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'c.example' }
  const { url } = await created({}, forwarded, proxied)
  assert.ok(url.startsWith('wss://c.example/v2/live?token='))
})
