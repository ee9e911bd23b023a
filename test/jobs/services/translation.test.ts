/** Translation of recordings on a server without a language model, over the real server. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine, type FakeOptions } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

type AddOnError = { status_code: number; exception: string; message: string }
type Wrapper<T> = { success: boolean; is_empty: boolean; error: AddOnError | null; results: T }
type Translation = {
  error: AddOnError | null
  full_transcript: string
  languages: string[]
  utterances: { start: number; end: number; words: { start: number; end: number }[] }[]
}
type Job = {
  status: string
  result: {
    transcription: { full_transcript: string; utterances: object[] }
    translation: Wrapper<Translation[] | null>
    audio_to_llm: Wrapper<null>
    summarization: Wrapper<string>
  }
}

/** Where Debian's package `apertium` has it; the pair is in `apertium-eng-spa`. */
const APERTIUM = '/usr/bin/apertium'
const hasPair = existsSync(APERTIUM) && existsSync('/usr/share/apertium/modes/eng-spa.mode')

async function start(
  t: TestContext,
  spoken = 'Hello Lena Smith.',
  env: Record<string, string> = {},
  options: FakeOptions = {},
) {
  const server = await startServer({ speech: createFakeSpeechEngine(spoken, options), env })
  t.after(() => server.close())
  async function transcribe(targets: string[], fields: object = {}) {
    const json = {
      audio_url: await upload(server, createToneWav(4)),
      translation: true,
      ...fields,
      translation_config: { target_languages: targets },
    }
    const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    await server.app.jobs.idle()
    const { status, result } = (await call<Job>(server, `/v2/pre-recorded/${body.id}`)).body
    assert.equal(status, 'done')
    return { id: body.id, ...result }
  }
  return { server, transcribe }
}

test('a target equal to the spoken language is copied without a translator', async (t) => {
  const { transcribe } = await start(t)
  const { translation, transcription } = await transcribe(['en'])
  const { success, is_empty, error, results } = translation
  assert.deepEqual([success, is_empty, error], [true, false, null])
  const { full_transcript, utterances } = transcription
  assert.deepEqual(results, [{ error: null, full_transcript, languages: ['en'], utterances }])
})

test('unavailable targets report what they need, alone or for the add-on', async (t) => {
  const { server, transcribe } = await start(t)
  const both = await transcribe(['fr', 'en'])
  const [french, english] = both.translation.results!
  assert.deepEqual([french!.error!.status_code, french!.error!.exception], [501, 'NotConfigured'])
  assert.match(french!.error!.message, /^translation into fr .*STENO_LLM_URL/)
  assert.deepEqual([french!.utterances, english!.error], [[], null])
  const path = `/v2/pre-recorded/${both.id}/addons/translation/retry`
  const again = await call<Wrapper<Translation[]>>(server, path, { method: 'POST' })
  assert.deepEqual(again.body.results, both.translation.results)

  const { translation, audio_to_llm, summarization } = await transcribe(['fr'], {
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who?'] },
    summarization: true,
  })
  for (const { success, is_empty, error, results } of [translation, audio_to_llm]) {
    assert.deepEqual([success, is_empty, results], [false, true, null])
    assert.deepEqual([error!.status_code, error!.exception], [501, 'NotConfigured'])
  }
  assert.match(summarization.results, /Lena/)
})

test('a recording without speech still reports a missing translator', async (t) => {
  const { transcribe } = await start(t, '')
  const { translation } = await transcribe(['fr', 'de'])
  assert.deepEqual([translation.success, translation.error?.exception], [false, 'NotConfigured'])
})

test('Apertium translates its pairs with placeholders kept and is listed', {
  skip: hasPair ? false : 'Apertium is not installed',
}, async (t) => {
  const spoken = 'My dog is here. Lena Smith is happy.'
  const { server, transcribe } = await start(t, spoken, { STENO_APERTIUM: APERTIUM })
  const { translation } = await transcribe(['es', 'de'], {
    pii_redaction: true,
    pii_redaction_config: { entity_types: ['NAME'] },
  })
  const [spanish, german] = translation.results!
  assert.equal(spanish!.error, null)
  assert.match(spanish!.full_transcript, /^Mi perro .*aquí\. \[NAME_1\] .*feliz\./)
  assert.equal(german!.error!.exception, 'NotConfigured')
  assert.match(german!.error!.message, /the pair en-de of Apertium/)
  type Listed = {
    add_ons: { name: string; is_configured: boolean; languages: string[] }[]
    translators: { provider: string; pairs: string[] }[]
  }
  const { body } = await call<Listed>(server, '/v2/capabilities')
  const listed = body.add_ons.find(({ name }) => name === 'translation')!
  assert.ok(listed.is_configured && listed.languages.includes('en'))
  const [apertium, ...others] = body.translators
  assert.deepEqual([apertium!.provider, others], ['apertium', []])
  assert.ok(apertium!.pairs.includes('en-es'))
})

/** As with a multilingual Whisper model, for a recording in Spanish. */
function listening(heard: [string, number][] = []): FakeOptions {
  const onTranslate = (language: string, seconds: number) => void heard.push([language, seconds])
  return { languages: ['es'], translated: ['es', 'fr'], onTranslate }
}

test('a Whisper model translates speech into English within its utterances', async (t) => {
  const heard: [string, number][] = []
  const { server, transcribe } = await start(t, 'Hola sequel mundo.', {}, listening(heard))
  const spelling = { custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } } }
  const { translation } = await transcribe(['en', 'de'], { custom_spelling: true, ...spelling })
  const [english, german] = translation.results!
  assert.deepEqual([english!.error, english!.languages], [null, ['en']])
  assert.equal(english!.full_transcript, 'heard Hola SQL mundo.')
  const [{ start: from, end, words }] = english!.utterances as [Translation['utterances'][0]]
  for (const [i, word] of words.entries()) {
    assert.ok(word.start >= (words[i - 1]?.end ?? from) && word.end <= end, JSON.stringify(words))
  }
  // The last word ends before the segment does; a little more is heard on both sides.
  const [[language, seconds]] = heard as [[string, number]]
  assert.deepEqual([heard.length, language], [1, 'es'])
  assert.ok(seconds > end - from && seconds < end - from + 0.5, `${seconds}`)
  assert.match(german!.error!.message, /^translation into de .*STENO_LLM_URL\), or Apertium/)
  assert.doesNotMatch(german!.error!.message, /Whisper/)
  type Listed = { add_ons: { name: string; languages: string[] }[]; translators: object[] }
  const { body } = await call<Listed>(server, '/v2/capabilities')
  const listed = body.add_ons.find(({ name }) => name === 'translation')!
  assert.deepEqual(listed.languages, ['es', 'fr'])
  assert.deepEqual(body.translators, [
    { provider: 'whisper', model: null, pairs: ['es-en', 'fr-en'], sessions: false },
  ])
})

test('a recording without speech has an empty English translation, also redacted', async (t) => {
  const { transcribe } = await start(t, '', {}, listening())
  const redaction = { pii_redaction: true, pii_redaction_config: { entity_types: ['NAME'] } }
  for (const fields of [{}, redaction]) {
    const { translation } = await transcribe(['en'], fields)
    const { success, is_empty, error, results } = translation
    assert.deepEqual([success, is_empty, error], [true, true, null])
    assert.deepEqual(results, [
      { error: null, full_transcript: '', languages: ['en'], utterances: [] },
    ])
  }
})

test('a language without a translating model names one to pull', async (t) => {
  const { transcribe } = await start(t, 'Ciao.', {}, { languages: ['it'], translated: ['es'] })
  const { translation } = await transcribe(['en'])
  assert.deepEqual([translation.success, translation.error!.status_code], [false, 501])
  assert.match(translation.error!.message, /Whisper model \(steno models pull whisper-small\)/)
})

test('a missing Apertium program is not a translator, and the server works', async (t) => {
  const { transcribe } = await start(t, 'Hello.', { STENO_APERTIUM: '/no/such/program' })
  const { translation } = await transcribe(['es'])
  assert.equal(translation.error?.exception, 'NotConfigured')
})
