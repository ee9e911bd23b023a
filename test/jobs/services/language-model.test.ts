/** Add-ons of a language model, over the real server; a stand-in speaks the provider's protocol. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import {
  type ChatCall,
  type ChatReply,
  startChatProvider,
  textsToTranslate,
} from '../../support/llm/chat-provider.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

type Source = { text: string; start: number; end: number; channel: number }
type Wrapper<T> = {
  sources?: Source[]
  success: boolean
  is_empty: boolean
  exec_time: number
  error: { status_code: number; exception: string; message: string } | null
  results: T
}
type Utterance = { text: string; language: string; start: number; end: number; words: Word[] }
type Word = { word: string; start: number; end: number }
type Translation = {
  error: object | null
  full_transcript: string
  languages: string[]
  utterances: Utterance[]
  sentences?: Wrapper<string[]>[]
  subtitles?: { format: string; subtitles: string }[]
}
type Result = {
  metadata: {
    warnings: string[]
    usage?: { requests: number; prompt_tokens: number; completion_tokens: number }
  }
  transcription: { utterances: Utterance[] }
  translation: Wrapper<Translation[] | null>
  summarization: Wrapper<string | null>
  audio_to_llm: Wrapper<Wrapper<{ prompt: string; response: string | null }>[] | null>
  structured_data_extraction: Wrapper<string | null>
  moderation: Wrapper<string | null>
  name_consistency: Wrapper<string | null>
  chapters: Wrapper<
    { headline: string; summary: string; keywords: string[]; start: number }[] | null
  >
}
type Job = { id: string; status: string; result: Result }

/** Answers every task so that each response shows what it was made of. */
function respond(one: ChatCall): ChatReply {
  const [, user] = one.messages
  if (user!.content.startsWith('{')) {
    return JSON.stringify({ translations: textsToTranslate(one).map((text) => `<${text}>`) })
  }
  if (one.response_format) return '{"greeting": ["Hello"]}'
  return `about ${/<transcript>\n([\s\S]*)\n<\/transcript>/.exec(user!.content)![1]}`
}

async function start(t: TestContext, reply = respond, spoken = 'Hello Lena Smith.') {
  const provider = await startChatProvider(reply)
  const env = {
    STENO_LLM_URL: provider.url,
    STENO_LLM_MODEL: 'tiny',
    STENO_LLM_API_KEY: 'secret',
    STENO_LLM_ALLOWED_MODELS: 'large, other',
    STENO_LLM_TIMEOUT_S: '60',
  }
  const server = await startServer({ speech: createFakeSpeechEngine(spoken), env })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  async function transcribe(fields: object): Promise<Job> {
    const json = { audio_url: await upload(server, createToneWav(7)), ...fields }
    const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    await server.app.jobs.idle()
    const job = (await call<Job>(server, `/v2/pre-recorded/${body.id}`)).body
    assert.equal(job.status, 'done', JSON.stringify(job))
    return job
  }
  return { server, provider, transcribe }
}

function textsOf({ transcription }: Result): string[] {
  return transcription.utterances.map(({ text }) => text.trim())
}

const everything = {
  summarization: true,
  audio_to_llm: true,
  audio_to_llm_config: { prompts: ['Who called?', ['And', 'why?']] },
  structured_data_extraction: true,
  structured_data_extraction_config: { classes: ['greeting'] },
}

test('prompts, summary and data are answered by the model, with their usage', async (t) => {
  const { provider, transcribe } = await start(t)
  const { result } = await transcribe(everything)
  const text = textsOf(result).join('\n')
  assert.equal(result.summarization.results, `about ${text}`)
  const responses = result.audio_to_llm.results!
  assert.deepEqual(
    responses.map(({ success, results }) => [success, results.prompt, results.response]),
    [
      [true, 'Who called?', `about ${text}`],
      [true, 'And\nwhy?', `about ${text}`],
    ],
  )
  assert.ok(responses.every(({ exec_time: seconds }) => seconds > 0))
  assert.equal(result.structured_data_extraction.results, '{"greeting":["Hello"]}')
  assert.deepEqual(result.metadata.usage, {
    requests: 4,
    prompt_tokens: 400,
    completion_tokens: 40,
  })
  assert.ok(provider.calls.every(({ authorization }) => authorization === 'Bearer secret'))
})

test('answers and values have the times of the words they quote', async (t) => {
  const { transcribe } = await start(t, (one) => {
    return one.response_format ? respond(one) : 'She said “hello, Lena” and not "goodbye".'
  })
  const { result } = await transcribe(everything)
  const [utterance] = result.transcription.utterances
  const [hello, lena] = utterance!.words
  const { sources } = result.audio_to_llm.results![0]!
  assert.deepEqual(sources, [
    { text: 'hello, Lena', start: hello!.start, end: lena!.end, channel: 0 },
  ])
  assert.deepEqual(result.structured_data_extraction.sources, [
    { text: 'Hello', start: hello!.start, end: hello!.end, channel: 0 },
  ])
})

test('chapters are written by the model, with the times of the words', async (t) => {
  const texts = { headline: 'A greeting', gist: 'Lena is greeted.', keywords: ['lena', 7, null] }
  let isUp = true
  const { provider, transcribe } = await start(t, () => (isUp ? JSON.stringify(texts) : 404))
  const { result } = await transcribe({ chapters: true })
  const [first, ...others] = result.chapters.results!
  assert.deepEqual([first!.headline, first!.keywords], ['A greeting', ['lena', '7']])
  assert.equal(first!.start, result.transcription.utterances[0]!.start)
  // What the model left out is taken from the transcript.
  assert.match(first!.summary, /Hello Lena Smith/)
  assert.deepEqual(others, [])
  assert.equal(provider.calls.length, 1)
  isUp = false
  const failed = (await transcribe({ chapters: true })).result.chapters
  assert.deepEqual([failed.success, failed.results], [false, null])
})

test('moderation sends every sentence to the model beside the word lists', async (t) => {
  const flags = '{"flags":[{"sentence":1,"category":"threat"}]}'
  const { provider, transcribe } = await start(t, () => flags, 'Hello damn Lena.')
  const { moderation } = (await transcribe({ moderation: true })).result
  type Found = { categories: Record<string, number>; items: { category: string }[] }
  const { categories, items } = JSON.parse(moderation.results!) as Found
  assert.equal(provider.calls.length, 1)
  assert.equal(categories.threat, 1)
  assert.ok(categories.profanity! >= 1)
  assert.equal(items[0]!.category, 'profanity')
})

test('similar names are unified by the model before add-ons run', async (t) => {
  let reply: ChatReply = '{"changes":[{"from":"Kowalchek","to":"Kowalczyk"}]}'
  const spoken = 'We saw Kowalczyk. We met Kowalczyk. We know Kowalchek.'
  const { provider, transcribe } = await start(
    t,
    (one) => {
      return one.messages[1]!.content.includes('"groups"') ? reply : respond(one)
    },
    spoken,
  )
  const { result } = await transcribe({ name_consistency: true, summarization: true })
  assert.ok(!JSON.stringify(result.transcription).includes('Kowalchek'))
  assert.ok(!result.summarization.results!.includes('Kowalchek'))
  const { exec_time, ...envelope } = result.name_consistency
  assert.ok(exec_time > 0)
  const [change] = JSON.parse(envelope.results!) as { from: string; to: string }[]
  assert.deepEqual([envelope.success, change!.to], [true, 'Kowalczyk'])
  assert.equal(result.metadata.usage!.requests, 2)
  reply = 404
  const down = (await transcribe({ name_consistency: true })).result
  assert.deepEqual([down.name_consistency.success, down.name_consistency.results], [true, '[]'])
  assert.match(down.metadata.warnings.join(), /compared some names by sound alone: .* 404/)
  const before = provider.calls.length
  await transcribe({ name_consistency: true, pii_redaction: true })
  assert.equal(provider.calls.length, before)
})

test('a prompt may name an allowed model, others get the configured one', async (t) => {
  const { provider, server, transcribe } = await start(t)
  for (const model of ['large', 'gpt-5']) {
    await transcribe({ audio_to_llm: true, audio_to_llm_config: { prompts: ['Who?'], model } })
  }
  assert.deepEqual(
    provider.calls.map((one) => one.model),
    ['large', 'tiny'],
  )
  const { metrics } = server.app
  const { values } = await metrics.llmTokens.get()
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.kind, value]),
    [
      ['prompt', 200],
      ['completion', 20],
    ],
  )
})

test('equal prompts are sent and counted once', async (t) => {
  const { provider, transcribe } = await start(t)
  const { result } = await transcribe({
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who?', 'Who?'] },
  })
  assert.equal(result.audio_to_llm.results!.length, 2)
  assert.deepEqual([provider.calls.length, result.metadata.usage!.requests], [1, 1])
})

test('a translation has the times of its utterances, with sentences and subtitles', async (t) => {
  const { transcribe } = await start(t)
  const { result } = await transcribe({
    translation: true,
    translation_config: { target_languages: ['de', 'en'] },
    sentences: true,
    subtitles: true,
  })
  const [german, english] = result.translation.results!
  assert.deepEqual([german!.error, german!.languages], [null, ['de']])
  const translations = textsOf(result).map((text) => `<${text}>`)
  assert.equal(german!.full_transcript, translations.join(' '))
  const originals = result.transcription.utterances
  for (const [i, { start, end, words, language }] of german!.utterances.entries()) {
    assert.deepEqual([start, end, language], [originals[i]!.start, originals[i]!.end, 'de'])
    assert.deepEqual([words[0]!.start, words.at(-1)!.end], [start, end])
    for (const [n, word] of words.entries()) {
      assert.ok(word.start >= (words[n - 1]?.end ?? start) && word.end > word.start)
    }
  }
  assert.ok(german!.sentences![0]!.results.length > 0)
  assert.match(german!.subtitles![0]!.subtitles, /^1\n00:00:00,000 --> .*\n<Hello/)
  // What is in the target language already is copied.
  assert.equal(english!.full_transcript, textsOf(result).join(' '))
})

test('an unchanged translation is delivered with a warning', async (t) => {
  const copy = (one: ChatCall) => JSON.stringify({ translations: textsToTranslate(one) })
  const { transcribe } = await start(t, copy, 'We sent the lamp today.')
  const config = { target_languages: ['de', 'en'] }
  const { result } = await transcribe({ translation: true, translation_config: config })
  assert.equal(result.translation.success, true)
  const count = result.transcription.utterances.length
  const warning = `translation into de: ${count} of ${count} utterances came back as they were`
  assert.deepEqual(result.metadata.warnings, [warning])
})

test('only redacted text leaves the server, and markers are kept', async (t) => {
  const { provider, transcribe } = await start(t)
  const { result } = await transcribe({
    ...everything,
    translation: true,
    translation_config: { target_languages: ['fr'] },
    pii_redaction: true,
    pii_redaction_config: { entity_types: ['NAME'] },
  })
  assert.ok(provider.calls.length >= 5)
  assert.ok(!JSON.stringify(provider.calls).includes('Lena'))
  assert.match(result.translation.results![0]!.full_transcript, /<Hello \[NAME_1\]\./)
})

test('a failed prompt or target fails alone, and all of them fail the add-on', async (t) => {
  const { transcribe } = await start(t, (one) => {
    const said = one.messages.map(({ content }) => content).join(' ')
    return said.includes('why') || said.includes('French') ? 400 : respond(one)
  })
  const { result } = await transcribe({
    ...everything,
    translation: true,
    translation_config: { target_languages: ['fr', 'de'] },
  })
  const [first, second] = result.audio_to_llm.results!
  assert.equal(first!.success, true)
  assert.deepEqual([second!.success, second!.results.response], [false, null])
  assert.equal(second!.error!.status_code, 502)
  assert.ok(second!.exec_time > 0)
  assert.equal(result.audio_to_llm.success, true)
  const [french, german] = result.translation.results!
  assert.deepEqual([french!.utterances, french!.full_transcript], [[], ''])
  assert.ok(french!.error && german!.error === null)
})

test('an unavailable provider fails the add-on, not the job, and can be retried', async (t) => {
  let isUp = false
  const { server, transcribe } = await start(t, (one) => (isUp ? respond(one) : 404))
  const { id, result } = await transcribe({ summarization: true })
  assert.equal(result.summarization.success, false)
  assert.match(result.summarization.error!.message, /refused the request with 404/)
  isUp = true
  const path = `/v2/pre-recorded/${id}/addons/summarization/retry`
  const retried = await call<Wrapper<string>>(server, path, { method: 'POST' })
  assert.equal(retried.body.success, true, JSON.stringify(retried.body))
  const job = (await call<Job>(server, `/v2/pre-recorded/${id}`)).body
  assert.match(job.result.summarization.results!, /^about Hello/)
  assert.equal(job.result.metadata.usage!.requests, 1)
})

test('a failed task counts its usage', async (t) => {
  const { transcribe } = await start(t, () => 'no JSON')
  const { result } = await transcribe({
    structured_data_extraction: true,
    structured_data_extraction_config: { classes: ['greeting'] },
  })
  assert.equal(result.structured_data_extraction.success, false)
  assert.equal(result.metadata.usage!.requests, 2)
})

test('a recording without speech sends no model request', async (t) => {
  const { provider, transcribe } = await start(t, respond, '')
  const { result } = await transcribe(everything)
  assert.deepEqual([result.summarization.is_empty, provider.calls.length], [true, 0])
  const { success, is_empty, results } = result.audio_to_llm
  assert.deepEqual([success, is_empty, results![0]!.success], [true, true, true])
  assert.deepEqual(results![0]!.results, { prompt: 'Who called?', response: null })
})

test('capabilities report the language model add-ons as configured', async (t) => {
  const { server } = await start(t)
  type AddOn = { name: string; is_configured: boolean; languages: unknown }
  type Listed = { add_ons: AddOn[]; translators: object[] }
  const { body } = await call<Listed>(server, '/v2/capabilities')
  assert.deepEqual(body.translators, [
    { provider: 'language model', model: 'tiny', pairs: null, sessions: true },
  ])
  for (const name of ['translation', 'audio_to_llm', 'structured_data_extraction']) {
    assert.equal(body.add_ons.find((one) => one.name === name)?.is_configured, true, name)
  }
  for (const name of ['name_consistency', 'moderation']) {
    assert.equal(body.add_ons.find((one) => one.name === name)?.languages, null, name)
  }
})

test('a missing embedded model is named with its pull command', async (t) => {
  const env = { STENO_LLM_URL: 'embedded:smollm2-135m' }
  const server = await startServer({ speech: createFakeSpeechEngine('Hello.'), env })
  t.after(() => server.close())
  const json = { audio_url: await upload(server, createToneWav(3)), summarization: true }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const job = (await call<Job>(server, `/v2/pre-recorded/${body.id}`)).body
  const { error } = job.result.summarization
  assert.equal(error!.status_code, 501)
  assert.match(error!.message, /'steno models pull smollm2-135m' installs it/)
})
