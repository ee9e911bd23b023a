import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { startChatProvider, textsToTranslate } from '../../support/llm/chat-provider.ts'
import { call, sendRaw } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Failure = { error: { message: string; type: string; param: string | null; code: string } }
type Job = { items: { id: string; status: string; request_params: Record<string, unknown> }[] }

type Sent = {
  fields?: Record<string, string> | [string, string][]
  init?: RequestInit
  on?: TestServer
}

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('Hello there.') })
})
after(() => server.close())

/** Sends a form with the recording between its fields. */
function transcribe<T = string>(fields: Sent['fields'] = {}, init: RequestInit = {}) {
  return send<T>('/v1/audio/transcriptions', { fields, init })
}

function send<T>(path: string, { fields = {}, init = {}, on = server }: Sent = {}) {
  const form = new FormData()
  const [first, ...rest] = Array.isArray(fields) ? fields : Object.entries(fields)
  if (first) form.append(...first)
  form.set('file', new Blob([createToneWav(7)]), 'talk.wav')
  for (const field of rest) form.append(...field)
  return call<T>(on, path, { ...init, method: 'POST', body: form })
}

test('a transcription is returned as JSON by default', async () => {
  const { status, body } = await transcribe<{ text: string; usage: object }>({ model: 'whisper-1' })
  assert.equal(status, 200)
  assert.equal(body.text, 'Hello there. Hello there.')
  assert.deepEqual(body.usage, { type: 'duration', seconds: 7 })
})

test('the languages of the speech are in the response, and in the last event of a stream', async () => {
  const { body } = await transcribe<{ languages: object[] }>({ model: 'gpt-transcribe' })
  assert.deepEqual(body.languages, [{ code: 'en' }])
  const events = (await transcribe({ stream: 'true' })).body
  assert.match(events, /"transcript.text.done".*"languages":\[{"code":"en"}\]/)
})

test('response_format selects text, srt or vtt', async () => {
  const text = await transcribe({ response_format: 'text' })
  assert.match(text.headers.get('content-type')!, /^text\/plain/)
  assert.equal(text.body, 'Hello there. Hello there.\n')
  assert.match((await transcribe({ response_format: 'srt' })).body, /^1\n00:00:00,000 --> /)
  assert.match((await transcribe({ response_format: 'vtt' })).body, /^WEBVTT\n/)
})

test('verbose JSON contains segments, words or both', async () => {
  type Verbose = {
    task: string
    language: string
    duration: number
    segments?: { id: number; start: number; end: number; text: string; avg_logprob: number }[]
    words?: { word: string; start: number; end: number }[]
  }
  const verbose = { response_format: 'verbose_json' }
  const { body } = await transcribe<Verbose>(verbose)
  assert.deepEqual([body.task, body.language, body.duration], ['transcribe', 'english', 7])
  assert.equal(body.words, undefined)
  const [first, second] = body.segments!
  assert.deepEqual([first!.id, second!.id, first!.text], [0, 1, ' Hello there.'])
  assert.ok(first!.avg_logprob <= 0 && first!.start < first!.end && first!.end <= second!.start)
  const asked = { ...verbose, 'timestamp_granularities[]': 'word' }
  const { words, segments } = (await transcribe<Verbose>(asked)).body
  assert.equal(segments, undefined)
  assert.deepEqual(
    words!.map(({ word }) => word),
    ['Hello', 'there.', 'Hello', 'there.'],
  )
  assert.ok(words!.every(({ start, end }) => start < end))
})

test('speakers are labeled with letters', async () => {
  type Diarized = { segments: { type: string; id: string; speaker: string; text: string }[] }
  const asked = { model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' }
  const { segments } = (await transcribe<Diarized>(asked)).body
  const [first] = segments
  assert.equal(first!.type, 'transcript.text.segment')
  assert.match(first!.speaker, /^[A-Z]$/)
  const { request_params: params } = (await call<Job>(server, '/v2/pre-recorded?limit=1')).body
    .items[0]!
  assert.equal(params.diarization, true)
})

test('logprobs are included on request', async () => {
  type Logged = { logprobs: { token: string; logprob: number; bytes: number[] }[] }
  const { logprobs } = (await transcribe<Logged>({ 'include[]': 'logprobs' })).body
  assert.equal(logprobs.length, 4)
  assert.ok(logprobs.every(({ logprob }) => logprob <= 0))
  assert.equal(Buffer.from(logprobs[0]!.bytes).toString(), logprobs[0]!.token)
})

test('language and prompt become settings of a job in the job list', async () => {
  await transcribe({ language: 'EN', prompt: 'Zyntrix, Ada Quell', temperature: '0.2' })
  const { items } = (await call<Job>(server, '/v2/pre-recorded?limit=1')).body
  const { status, request_params: params } = items[0]!
  assert.equal(status, 'done')
  assert.deepEqual(params.language_config, { languages: ['en'], code_switching: false })
  const { vocabulary } = params.custom_vocabulary_config as { vocabulary: unknown }
  assert.deepEqual(vocabulary, ['Zyntrix', 'Ada Quell'])
})

test('lists of languages and keywords become settings of a job', async () => {
  const asked = [
    ['model', 'gpt-transcribe'],
    ['languages[]', 'en'],
    ['languages[]', 'en'],
    ['keywords[]', 'Ada Quell'],
    ['keywords[]', ' '],
    ['keywords[]', 'Zyntrix'],
    ['prompt', 'Zyntrix, Digique'],
  ] as [string, string][]
  assert.equal((await transcribe(asked)).status, 200)
  const { items } = (await call<Job>(server, '/v2/pre-recorded?limit=1')).body
  const { language_config: languages, custom_vocabulary_config: config } = items[0]!.request_params
  assert.deepEqual(languages, { languages: ['en'], code_switching: false })
  const { vocabulary } = config as { vocabulary: unknown }
  assert.deepEqual(vocabulary, ['Ada Quell', 'Zyntrix', 'Digique'])
})

for (const response_format of ['json', 'text']) {
  test(`streaming sends the utterances, then the whole text, as ${response_format}`, async () => {
    checkEvents(await transcribe({ stream: 'true', response_format }))
  })
}

function checkEvents({ body, headers }: { body: string; headers: Headers }): void {
  assert.match(headers.get('content-type')!, /^text\/event-stream/)
  const events = body.split('\n\n').filter((line) => line.startsWith('data: '))
  const parsed = events.map((line) => JSON.parse(line.slice(6)) as Record<string, string>)
  assert.deepEqual(
    parsed.map(({ type, delta, text }) => [type, delta ?? text]),
    [
      ['transcript.text.delta', 'Hello there.'],
      ['transcript.text.delta', ' Hello there.'],
      ['transcript.text.done', 'Hello there. Hello there.'],
    ],
  )
}

test('errors have the format of the OpenAI API', async () => {
  const wrong = await transcribe<Failure>({ model: 'none', response_format: 'mp3' })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.error.type, 'invalid_request_error')
  assert.equal(wrong.body.error.param, 'model')
  assert.match(
    wrong.body.error.message,
    /^model must be one of whisper-1, .*, gpt-4o-transcribe-diarize, .*; response_format must be/,
  )
  const form = new FormData()
  form.set('file', new Blob(['no sound']), 'talk.mp3')
  const options = { method: 'POST', body: form }
  const broken = await call<Failure>(server, '/v1/audio/transcriptions', options)
  assert.equal(broken.status, 400)
  assert.equal(broken.body.error.code, 'media_unsupported')
  const language = await transcribe<Failure>({ language: 'tlh' })
  assert.equal(language.status, 400)
  assert.equal(language.body.error.param, 'language')
  assert.match(language.body.error.message, /^language must be one of/)
  const keyword = await transcribe<Failure>({ 'keywords[]': 'x'.repeat(5000) })
  assert.deepEqual([keyword.status, keyword.body.error.param], [400, 'keywords'])
})

for (const [type, body] of [
  [undefined, 'x'],
  ['text/plain', 'x'],
  ['application/json', '{"model":"whisper-1"}'],
  ['multipart/form-data', 'x'],
  ['multipart/form-data; boundary=x', 'x'],
] as const) {
  test(`a body of type ${type} gets a 400 in the OpenAI format`, async () => {
    for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations']) {
      // `fetch` names a type for a text, and none for bytes.
      const init = { method: 'POST', body: Buffer.from(body) }
      const response = await call<Failure>(server, path, {
        ...init,
        ...(type && { headers: { 'content-type': type } }),
      })
      assert.equal(response.status, 400)
      assert.equal(response.body.error.type, 'invalid_request_error')
    }
  })
}

test('errors of the HTTP parser have the OpenAI format on its paths', async () => {
  const response = await sendRaw(server, 'GET /v1/models HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n')
  assert.match(response, /^HTTP\/1.1 400 /)
  const { error } = JSON.parse(response.split('\r\n\r\n')[1]!) as Failure
  assert.deepEqual([error.type, error.code], ['invalid_request_error', 'request_unreadable'])
})

test('the key may be a bearer token on the OpenAI paths only', async () => {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(server.url + path, { headers })
  assert.equal((await ask('/v1/models', bearer(server.key))).status, 200)
  assert.equal((await ask('/v2/pre-recorded', bearer(server.key))).status, 401)
  const refused = await ask('/v1/models', bearer('wrong'))
  assert.equal(refused.status, 401)
  assert.equal(((await refused.json()) as Failure).error.code, 'invalid_api_key')
})

test('a model can be retrieved by name', async () => {
  const found = await call<{ id: string; object: string }>(server, '/v1/models/stt-1')
  assert.deepEqual([found.body.id, found.body.object], ['stt-1', 'model'])
  const listed = await call<{ data: { id: string }[] }>(server, '/v1/models')
  assert.ok(listed.body.data.some(({ id }) => id === 'whisper-1'))
  const dated = await call<{ id: string }>(server, '/v1/models/gpt-4o-transcribe-2025-03-20')
  assert.deepEqual([dated.status, dated.body.id], [200, 'gpt-4o-transcribe-2025-03-20'])
  for (const id of ['gpt-transcribe', 'gpt-live-transcribe', 'gpt-realtime-whisper']) {
    assert.ok(listed.body.data.some((model) => model.id === id))
  }
  const missing = await call<Failure>(server, '/v1/models/none')
  assert.deepEqual([missing.status, missing.body.error.code], [404, 'model_not_found'])
})

test('a client that disconnects before the response cancels its job', async (t) => {
  const speech = createFakeSpeechEngine('Hello there.')
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const slow = await startServer({
    speech: {
      ...speech,
      async runBatch(...args) {
        begun.resolve()
        await held.promise
        return speech.runBatch(...args)
      },
    },
  })
  t.after(() => slow.close())
  const leave = new AbortController()
  const form = new FormData()
  form.set('file', new Blob([createToneWav(2)]), 'talk.wav')
  const asked = fetch(`${slow.url}/v1/audio/transcriptions`, {
    method: 'POST',
    body: form,
    signal: leave.signal,
    headers: { authorization: `Bearer ${slow.key}` },
  })
  await begun.promise
  leave.abort()
  await assert.rejects(asked)
  const [job] = (await call<Job>(slow, '/v2/pre-recorded')).body.items
  await slow.app.jobs.service.whenEnded(
    { id: job!.id, account: 'test' },
    AbortSignal.timeout(60_000),
  )
  held.resolve()
  const { body } = await call<{ error_code: number }>(slow, `/v2/pre-recorded/${job!.id}`)
  assert.equal(body.error_code, 499)
})

test('translation of English speech returns its transcript in every format', async () => {
  type Verbose = { task: string; language: string; text: string }
  const path = '/v1/audio/translations'
  const json = await send<{ text: string }>(path, { fields: { model: 'whisper-1' } })
  assert.deepEqual([json.status, json.body.text], [200, 'Hello there. Hello there.'])
  const { body } = await send<Verbose>(path, { fields: { response_format: 'verbose_json' } })
  assert.deepEqual([body.task, body.language], ['translate', 'english'])
  assert.match((await send<string>(path, { fields: { response_format: 'vtt' } })).body, /^WEBVTT\n/)
})

test('other speech is translated by the language model, or rejected with the reason', async (t) => {
  const speech = createFakeSpeechEngine('Hallo.', { languages: ['de'] })
  const provider = await startChatProvider((one) => {
    return JSON.stringify({ translations: textsToTranslate(one).map(() => 'Hello.') })
  })
  const env = { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny' }
  const servers = await Promise.all([startServer({ speech, env }), startServer({ speech })])
  t.after(async () => {
    await Promise.all(servers.map((one) => one.close()))
    provider.close()
  })
  const [able, unable] = servers
  const path = '/v1/audio/translations'
  const srt = await send<string>(path, { fields: { response_format: 'srt' }, on: able! })
  assert.match(srt.body, /\nHello\.\n/)
  const text = await send<{ text: string }>(path, { on: able! })
  assert.equal(text.body.text, 'Hello. Hello.')
  const { status, body } = await send<Failure>(path, { on: unable! })
  assert.equal(status, 422)
  assert.match(body.error.message, /translation into en is not available on this server/)
})
