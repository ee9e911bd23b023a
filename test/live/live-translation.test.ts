/** Translation and summaries of live sessions by a language model, over the real server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { chunksOf, synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { finalsOf, ofType } from '../support/live/clients/live-messages.ts'
import {
  type ChatCall,
  type ChatReply,
  startChatProvider,
  textsToTranslate,
} from '../support/llm/chat-provider.ts'
import { call } from '../support/net/http-client.ts'
import { startServer } from '../support/server/start-server.ts'

type Wrapper<T> = {
  success: boolean
  is_empty: boolean
  error: { exception: string; message: string } | null
  results: T
}
type Utterance = { text: string; language: string; start: number; end: number; words: object[] }
type Translation = {
  error: object | null
  full_transcript: string
  languages: string[]
  utterances: Utterance[]
}
type Job = {
  result: {
    metadata: { warnings: string[]; billing_time: number; usage?: { requests: number } }
    transcription: { utterances: Utterance[] }
    translation: Wrapper<Translation[] | null>
    summarization: Wrapper<string | null>
    named_entity_recognition: Wrapper<object[]>
    audio_to_llm: Wrapper<Wrapper<{ prompt: string; response: string | null }>[] | null>
  }
}

type Usage = {
  total: { jobs: number; billing_time: number; usage: object; add_ons: Record<string, number> }
}

const SAID = 'My name is Lena.'
const speech = synthesizeAudio('....##########.....########.....')

function respond(one: ChatCall): ChatReply {
  if (!one.messages[1]!.content.startsWith('{')) return 'Lena says her name.'
  return JSON.stringify({ translations: textsToTranslate(one).map((text) => `<${text}>`) })
}

/** Runs a session that is translated into French, German and English, beside a model. */
async function run(t: TestContext, reply = respond, { hasModel = true } = {}) {
  const provider = await startChatProvider(reply)
  const env = hasModel ? { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny' } : {}
  const server = await startServer({ speech: createFakeSpeechEngine(SAID), env })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  const { id, url } = await openSession(server, {
    realtime_processing: {
      translation: true,
      translation_config: { target_languages: ['fr', 'de', 'en'] },
      named_entity_recognition: true,
    },
    post_processing: {
      summarization: true,
      audio_to_llm: true,
      audio_to_llm_config: { prompts: ['Who speaks?', 'Why?'] },
    },
  })
  const client = await connect(url)
  for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const { result } = (await call<Job>(server, `/v2/live/${id}`)).body
  const { total } = (await call<Usage>(server, '/v2/usage')).body
  return { messages: client.messages, result, provider, used: total }
}

test('every final is translated into each language, as in the result', async (t) => {
  const { messages, result, provider, used } = await run(t)
  const finals = finalsOf(messages)
  assert.equal(finals.length, 2)
  const sent = ofType(messages, 'translation')
  assert.deepEqual(
    sent.map(({ data, error }) => [data!.utterance_id, data!.target_language, error]),
    finals.flatMap(({ data }) => ['fr', 'de', 'en'].map((target) => [data.id, target, null])),
  )
  const [french, , english] = sent.map(({ data }) => data as unknown as Record<string, Utterance>)
  const original = finals[0]!.data.utterance as unknown as Utterance
  assert.deepEqual(french!.utterance, original)
  assert.equal(french!.original_language, 'en')
  const { text, language, start, end, words } = french!.translated_utterance!
  assert.deepEqual([text, language], [' <My name is Lena.>', 'fr'])
  assert.deepEqual([start, end, words.length], [original.start, original.end, 4])
  assert.equal((words[0] as { word: string }).word, ' <My')
  // What is in the target language already is copied.
  assert.equal(english!.translated_utterance!.text, original.text)

  assert.equal(result.translation.success, true)
  assert.deepEqual(
    result.translation.results!.map((one) => [one.languages, one.full_transcript, one.error]),
    [
      [['fr'], '<My name is Lena.> <My name is Lena.>', null],
      [['de'], '<My name is Lena.> <My name is Lena.>', null],
      [['en'], 'My name is Lena. My name is Lena.', null],
    ],
  )
  assert.deepEqual(
    result.translation.results![0]!.utterances,
    [0, 3].map((i) => (sent[i]!.data as unknown as Record<string, Utterance>).translated_utterance),
  )
  assert.equal(result.summarization.results, 'Lena says her name.')
  assert.ok(!('usage' in result.summarization))
  for (const { messages } of provider.calls.slice(-3)) {
    const { content } = messages[1]!
    assert.ok(content.includes('\nMy name is Lena.\nMy name is Lena.\n'), content)
  }
  const [summary] = ofType(messages, 'post_summarization')
  assert.deepEqual(summary!.data, { results: 'Lena says her name.' })
  const prompted = ofType(messages, 'post_audio_to_llm')
  assert.deepEqual(prompted[0]!.data, { results: result.audio_to_llm.results })
  assert.deepEqual(
    result.audio_to_llm.results!.map(({ results }) => [results.prompt, results.response]),
    ['Who speaks?', 'Why?'].map((prompt) => [prompt, 'Lena says her name.']),
  )
  assert.equal(result.metadata.usage!.requests, 7)
  const { billing_time, usage } = result.metadata
  assert.deepEqual([used.jobs, used.billing_time, used.usage], [1, billing_time, usage])
  const addOns = ['translation', 'named_entity_recognition', 'summarization', 'audio_to_llm']
  assert.deepEqual(Object.keys(used.add_ons).sort(), addOns.sort())
  assert.ok(result.named_entity_recognition.results.length > 0)
})

test('a failed translation of an utterance is reported in a warning', async (t) => {
  let isRefused = false
  const { messages, result } = await run(t, (one) => {
    if (isRefused || !one.messages[0]!.content.includes('French')) return respond(one)
    isRefused = true
    return 404
  })
  assert.deepEqual(
    ofType(messages, 'translation')
      .map(({ error }) => error?.exception)
      .sort(),
    ['ServiceFailed', ...Array(5).fill(undefined)],
  )
  const [french, german] = result.translation.results!
  assert.deepEqual([french!.error, french!.utterances.length], [null, 1])
  assert.equal(german!.utterances.length, 2)
  assert.deepEqual(result.metadata.warnings, ['1 of 2 utterances were not translated into fr'])
})

test('an unavailable model fails only translation and summary', async (t) => {
  const { messages, result } = await run(t, () => 404)
  assert.equal(finalsOf(messages).length, 2)
  assert.equal(result.translation.success, true)
  assert.deepEqual(
    result.translation.results!.map(({ error, utterances }) => [error !== null, utterances.length]),
    [
      [true, 0],
      [true, 0],
      [false, 2],
    ],
  )
  assert.equal(result.summarization.error?.exception, 'ServiceFailed')
  assert.match(ofType(messages, 'post_summarization')[0]!.error!.message, /404/)
  assert.match(ofType(messages, 'post_audio_to_llm')[0]!.error!.message, /404/)
  assert.equal(result.audio_to_llm.results, null)
  assert.equal(result.named_entity_recognition.success, true)
})

test('without a model finals in the target language are copied, others fail', async (t) => {
  const { messages, result } = await run(t, respond, { hasModel: false })
  const sent = ofType(messages, 'translation')
  assert.deepEqual(
    sent.map(({ error, data }) => [error?.exception, data?.target_language]),
    [1, 2].flatMap(() => [
      ['NotConfigured', undefined],
      ['NotConfigured', undefined],
      [undefined, 'en'],
    ]),
  )
  const [french, , english] = result.translation.results!
  assert.deepEqual([result.translation.success, french!.utterances], [true, []])
  assert.equal(english!.full_transcript, 'My name is Lena. My name is Lena.')
  assert.equal(result.summarization.results, 'My name is Lena. My name is Lena.')
  assert.equal(result.audio_to_llm.error!.exception, 'NotConfigured')
})

/** Speaks on until a partial is translated, then ends the session. */
async function speakOn(t: TestContext, reply: (call: ChatCall) => ChatReply) {
  const provider = await startChatProvider(reply)
  const env = { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny' }
  const server = await startServer({ speech: createFakeSpeechEngine(SAID), env })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  const { id, url } = await openSession(server, {
    realtime_processing: {
      translation: true,
      translation_config: { target_languages: ['fr', 'en'], partials: true },
    },
    messages_config: { receive_partial_transcripts: true },
  })
  const client = await connect(url)
  // Too short for a partial with all of the words.
  const spoken = synthesizeAudio('....##########')
  for (const chunk of chunksOf(spoken, 3200)) client.send(chunk)
  return { server, client, provider, id }
}

test('partials are translated on request before their final, outside the result', async (t) => {
  const { server, client, id } = await speakOn(t, respond)
  const partial = await client.waitForType('translation', ({ data }) => data!.is_final === false)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const sent = ofType(client.messages, 'translation')
  const finality = sent.map(({ data }) => data!.is_final)
  // The final has its translations last, one for each language.
  assert.deepEqual(finality.slice(-2), [true, true])
  assert.ok(finality.slice(0, -2).every((isFinal) => isFinal === false))
  assert.deepEqual(
    [partial.data!.utterance_id, partial.data!.target_language],
    ['00_00000000', 'fr'],
  )
  assert.match((partial.data!.translated_utterance as Utterance).text, /^ <My/)
  const { result } = (await call<Job>(server, `/v2/live/${id}`)).body
  assert.deepEqual(
    result.translation.results!.map(({ full_transcript }) => full_transcript),
    ['<My name is Lena.>', 'My name is Lena.'],
  )
  assert.ok(result.metadata.usage!.requests >= 2)
})

test('a stalled translation of a partial is dropped without delay', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { client, provider } = await speakOn(t, (one) => {
    if (textsToTranslate(one)[0] === SAID) return respond(one)
    asked.resolve()
    return 'stall'
  })
  await asked.promise
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const sent = ofType(client.messages, 'translation')
  assert.deepEqual(
    sent.map(({ data }) => [data!.is_final, data!.target_language]),
    [
      [true, 'fr'],
      [true, 'en'],
    ],
  )
  assert.equal(provider.calls.length, 2)
})

test('transcripts of ten sessions do not wait for translations, which stay in order', async (t) => {
  const gate = Promise.withResolvers<void>()
  const provider = await startChatProvider(async (one) => {
    await gate.promise
    return respond(one)
  })
  const env = { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny', STENO_LIVE_SLOTS: '20' }
  const server = await startServer({ speech: createFakeSpeechEngine(SAID, { capacity: 20 }), env })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  const translation_config = { target_languages: ['fr', 'de'], partials: true }
  const clients = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const { url } = await openSession(server, {
        realtime_processing: { translation: true, translation_config },
        messages_config: { receive_partial_transcripts: true },
      })
      return connect(url)
    }),
  )
  for (const client of clients) {
    for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
    client.stop()
  }
  for (const client of clients) {
    await client.until(() => finalsOf(client.messages).length === 2)
    assert.deepEqual(ofType(client.messages, 'translation'), [])
  }
  gate.resolve()
  for (const client of clients) {
    assert.equal((await client.closed).code, 1000)
    const sent = ofType(client.messages, 'translation')
    // On a slow machine some are too late, and say so.
    const late = sent.filter(({ error }) => error?.exception === 'AddonTimeout').length
    const made = sent.flatMap(({ data }) => {
      return data?.is_final ? [`${data.utterance_id} ${data.target_language}`] : []
    })
    const all = finalsOf(client.messages).flatMap(({ data }) => [`${data.id} fr`, `${data.id} de`])
    assert.equal(made.length + late, all.length)
    assert.deepEqual(
      made,
      all.filter((one) => made.includes(one)),
    )
  }
})
