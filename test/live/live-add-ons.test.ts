// Vocabulary, spelling, entities, sentiments and summaries of live sessions, over the real server.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { chunksOf, synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import { openReceiver } from '../support/delivery/receiver.ts'
import { connect, type LiveClient, openSession } from '../support/live/clients/live-client.ts'
import { finalsOf, type LiveMessage, ofType } from '../support/live/clients/live-messages.ts'
import { allFlags as all } from '../support/live/sessions/live-flags.ts'
import { call } from '../support/net/http-client.ts'
import { sharedParts } from '../support/server/shared-parts.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

type Params = Record<string, unknown>
type Found = { entity_type?: string; sentiment?: string; text: string; start: number; end: number }
type Wrapper = { success: boolean; is_empty: boolean; error: { exception: string } | null }
type Job = {
  status: string
  result: {
    transcription: { full_transcript: string }
    named_entity_recognition: Wrapper & { results: Found[] | null }
    sentiment_analysis: Wrapper & { results: string | Found[] }
    summarization: Wrapper & { results: string | null }
    translation: Wrapper
    messages: string[]
    metadata: { warnings: string[] }
  }
}

const SAID = 'My name is Lena. I love the akmee report.'
const speech = synthesizeAudio('....##########.....########.....')
const everything = {
  named_entity_recognition: true,
  sentiment_analysis: true,
  custom_vocabulary: true,
  custom_spelling: true,
  custom_vocabulary_config: { vocabulary: [{ value: 'Acmeh', pronunciations: ['akmee'] }] },
  custom_spelling_config: { spelling_dictionary: { ACME: ['acmeh'], wrong: ['akmee', 'ACME'] } },
}

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine(SAID) })
})
after(() => server.close())

async function jobOf({ url, key }: Pick<TestServer, 'url' | 'key'>, id: string): Promise<Job> {
  return (await call<Job>({ url, key }, `/v2/live/${id}`)).body
}

/** Opens a session, sends speech, stops, and waits for the end. */
async function run(
  params: Params,
  on: Pick<TestServer, 'url' | 'key'> = server,
): Promise<{ id: string; client: LiveClient; job: Job }> {
  const { id, url } = await openSession(on, params)
  const client = await connect(url)
  for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  return { id, client, job: await jobOf(on, id) }
}

/** A server that hears something else, or answers in another form. */
async function startOther(t: TestContext, text: string, env: Record<string, string> = {}) {
  const other = await startServer({ speech: createFakeSpeechEngine(text), env })
  t.after(() => other.close())
  return other
}

function resultsOf({ data }: { data: Record<string, unknown> | null }): Found[] {
  return data!.results as Found[]
}

function textsOf(messages: readonly LiveMessage[], isFinal: boolean): string[] {
  return ofType(messages, 'transcript')
    .filter(({ data }) => data.is_final === isFinal)
    .map(({ data }) => data.utterance.text)
}

test('vocabulary and spelling apply once to partials, finals and results', async () => {
  // Partials that cannot be changed at once are left out: first of all the thread has to be there.
  await run({ realtime_processing: everything })
  const { id, url } = await openSession(server, {
    realtime_processing: everything,
    post_processing: { summarization: true },
    messages_config: all,
    maximum_duration_without_endpointing: 60,
  })
  const client = await connect(url)
  const hasPartial = () => textsOf(client.messages, false).some((text) => text.includes('ACME'))
  for (const chunk of chunksOf(synthesizeAudio('#'.repeat(1500)), 3200)) {
    if (hasPartial()) break
    const acks = ofType(client.messages, 'audio_chunk').length
    client.send(chunk)
    await client.until(() => ofType(client.messages, 'audio_chunk').length > acks)
  }
  assert.ok(hasPartial())
  client.stop()
  await client.closed
  assert.deepEqual(textsOf(client.messages, true), [' My name is Lena. I love the ACME report.'])
  const job = await jobOf(server, id)
  const stored = JSON.stringify(job.result)
  assert.equal(job.result.transcription.full_transcript, 'My name is Lena. I love the ACME report.')
  assert.doesNotMatch(stored, /akmee|Acmeh|wrong/)
})

test('a vocabulary may be a legacy list without a warning', async () => {
  const json = { realtime_processing: { custom_vocabulary: ['Akmeh'] } }
  const { headers } = await call(server, '/v2/live', { json })
  assert.equal(headers.get('x-steno-warning'), null)
  const { job } = await run(json)
  assert.match(job.result.transcription.full_transcript, /the Akmeh report/)
})

test('the result of a session names the ignored fields of its request', async () => {
  const { job } = await run({ samplerate: 8000 })
  const warning = 'unknown fields of the request were ignored: samplerate'
  assert.deepEqual(job.result.metadata.warnings, [warning])
})

test('each final is followed by its add-on results', async () => {
  const { client, job } = await run({
    realtime_processing: everything,
    messages_config: { receive_lifecycle_events: true },
  })
  const types = client.messages.map(({ type }) => type)
  const finals = finalsOf(client.messages)
  assert.equal(finals.length, 2)
  const reported: Found[] = []
  for (const type of ['named_entity_recognition', 'sentiment_analysis'] as const) {
    const messages = ofType(client.messages, type)
    assert.equal(messages.length, 2)
    for (const [i, message] of messages.entries()) {
      const { id, utterance } = finals[i]!.data
      assert.equal(message.error, null)
      assert.deepEqual([message.data!.utterance_id, message.data!.utterance], [id, utterance])
      assert.ok(client.messages.indexOf(message) > client.messages.indexOf(finals[i]!))
      for (const { start, end } of resultsOf(message)) {
        assert.ok(utterance.start <= start && start < end && end <= utterance.end)
      }
    }
    assert.ok(types.lastIndexOf(type) < types.indexOf('end_recording'))
    reported.push(...messages.flatMap(resultsOf))
  }
  const { named_entity_recognition, sentiment_analysis } = job.result
  const entities = named_entity_recognition.results!
  assert.deepEqual(
    entities.map(({ entity_type, text }) => [entity_type, text]),
    Array(2).fill(['NAME_GIVEN', 'Lena']),
  )
  const felt = JSON.parse(String(sentiment_analysis.results)) as Found[]
  assert.ok(felt.some(({ sentiment }) => sentiment === 'positive'))
  assert.deepEqual([...entities, ...felt], reported)
  for (const { success, is_empty } of [named_entity_recognition, sentiment_analysis]) {
    assert.deepEqual([success, is_empty], [true, false])
  }
})

test('an add-on without findings sends an empty list', async (t) => {
  const other = await startOther(t, 'and so it is')
  const { client, job } = await run(
    { realtime_processing: { named_entity_recognition: true } },
    other,
  )
  const messages = ofType(client.messages, 'named_entity_recognition')
  assert.deepEqual(messages.map(resultsOf), [[], []])
  const { success, is_empty, results } = job.result.named_entity_recognition
  assert.deepEqual([success, is_empty, results], [true, true, []])
})

test('a session without words has empty results and summary', async (t) => {
  const other = await startOther(t, '')
  const { client, job } = await run(
    { realtime_processing: everything, post_processing: { summarization: true } },
    other,
  )
  assert.deepEqual(ofType(client.messages, 'sentiment_analysis'), [])
  const { named_entity_recognition, sentiment_analysis, summarization } = job.result
  assert.deepEqual(
    [named_entity_recognition, sentiment_analysis, summarization].map((wrapper) => [
      ...[wrapper.success, wrapper.is_empty, wrapper.results],
    ]),
    [
      [true, true, []],
      [true, true, '[]'],
      [true, true, ''],
    ],
  )
})

test('STENO_ADDON_RESULTS=native returns sentiments as objects', async (t) => {
  const other = await startOther(t, SAID, { STENO_ADDON_RESULTS: 'native' })
  const { client, job } = await run({ realtime_processing: everything }, other)
  const reported = ofType(client.messages, 'sentiment_analysis').flatMap(resultsOf)
  assert.deepEqual(job.result.sentiment_analysis.results, reported)
})

test('an unsupported language is an error of the add-on, selected by its flag', async (t) => {
  const speech = createFakeSpeechEngine('bonjour', { languages: ['fr'] })
  const other = await startServer({ speech })
  t.after(() => other.close())
  const params = {
    language_config: { languages: ['fr'] },
    realtime_processing: { sentiment_analysis: true },
  }
  const { client, job } = await run(params, other)
  const [message] = ofType(client.messages, 'sentiment_analysis')
  assert.deepEqual([message!.data, message!.error?.exception], [null, 'LanguageNotSupported'])
  const { success, error, results } = job.result.sentiment_analysis
  assert.deepEqual([success, error?.exception, results], [false, 'LanguageNotSupported', '[]'])
  const messages_config = { receive_errors: false }
  const silent = await run({ ...params, messages_config }, other)
  assert.deepEqual(ofType(silent.client.messages, 'sentiment_analysis'), [])
})

test('messages that were not selected are not sent, but are in the result', async () => {
  const { client, job } = await run({
    realtime_processing: everything,
    messages_config: { receive_realtime_processing_events: false },
  })
  assert.deepEqual(ofType(client.messages, 'named_entity_recognition'), [])
  assert.equal(job.result.named_entity_recognition.results!.length, 2)
  assert.deepEqual(
    job.result.messages.filter((text) => text.startsWith('{"type":"named')),
    [],
  )
})

test('the summary is sent between the transcript and the end', async () => {
  const { client, job } = await run({
    post_processing: { summarization: true, summarization_config: { type: 'bullet_points' } },
  })
  const types = client.messages.map(({ type }) => type)
  assert.deepEqual(types.slice(-3), [
    'post_transcript',
    'post_summarization',
    'post_final_transcript',
  ])
  const [message] = ofType(client.messages, 'post_summarization')
  const { success, is_empty, results } = job.result.summarization
  assert.deepEqual([success, is_empty, message!.error], [true, false, null])
  assert.deepEqual(message!.data, { results })
  assert.match(results!, /^- /)
  const [whole] = ofType(client.messages, 'post_final_transcript')
  const { summarization } = whole!.data as unknown as Job['result']
  assert.deepEqual(summarization, job.result.summarization)
})

test('translation without a model fails alone', async () => {
  const { client, job } = await run({
    realtime_processing: {
      ...everything,
      translation: true,
      translation_config: { target_languages: ['fr', 'de'] },
    },
  })
  const messages = ofType(client.messages, 'translation')
  assert.deepEqual(
    messages.map(({ data, error }) => [data, error?.exception]),
    Array(4).fill([null, 'NotConfigured']),
  )
  assert.equal(job.result.translation.error?.exception, 'NotConfigured')
  assert.equal(job.result.named_entity_recognition.success, true)
})

test('a callback gets its selected add-on messages', async (t) => {
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const called = async (path: string, { flags, count }: { flags: Params; count: number }) => {
    await run({
      realtime_processing: everything,
      post_processing: { summarization: true },
      callback: true,
      callback_config: { url: receiver.url + path, ...flags },
    })
    await receiver.until(path, count)
    const bodies = receiver.at(path).map(({ body }) => body)
    assert.doesNotMatch(bodies.join(''), /akmee/)
    return bodies.map((body) => (JSON.parse(body) as { event: string }).event)
  }
  const reported = await called('/default', { flags: {}, count: 13 })
  const ofEach = ['transcript', 'named_entity_recognition', 'sentiment_analysis']
  for (const type of ofEach) {
    assert.equal(reported.filter((event) => event === `live.${type}`).length, 2, type)
  }
  const flags = { receive_realtime_processing_events: false }
  const untold = await called('/fewer', { flags, count: 9 })
  assert.deepEqual(
    untold,
    reported.filter((event) => !/recognition|sentiment/.test(event)),
  )
})

test('a resumed session changes its words once and sends every message once', async (t) => {
  const folder = await makeFolder(t)
  const start = async () => {
    const config = readConfig({ STENO_DATA_DIR: folder, STENO_API_KEYS: 'test:key' })
    const parts = { speech: createFakeSpeechEngine(SAID), log: createLog('silent') }
    const app = await createApp(config, { ...parts, ...sharedParts() })
    t.after(() => app.close())
    return { app, key: 'key', url: await app.http.listen({ host: '127.0.0.1', port: 0 }) }
  }
  const first = await start()
  const { id, url } = await openSession(first, {
    realtime_processing: everything,
    post_processing: { summarization: true },
  })
  const client = await connect(url)
  client.send(synthesizeAudio('....##########.....######'))
  await client.waitForType('sentiment_analysis')
  await first.app.close()
  const second = await start()
  const address = new URL(url)
  address.port = new URL(second.url).port
  const again = await connect(address.href)
  again.send(synthesizeAudio('##.....'))
  again.stop()
  assert.equal((await again.closed).code, 1000)
  const { result } = await jobOf(second, id)
  const text = 'My name is Lena. I love the ACME report.'
  assert.equal(result.transcription.full_transcript, `${text} ${text}`)
  const count = (type: string) => {
    return result.messages.filter((message) => message.startsWith(`{"type":"${type}"`)).length
  }
  assert.deepEqual(
    ['transcript', 'named_entity_recognition', 'sentiment_analysis', 'post_summarization'].map(
      count,
    ),
    [2, 2, 2, 1],
  )
  assert.equal(result.named_entity_recognition.results!.length, 2)
})
