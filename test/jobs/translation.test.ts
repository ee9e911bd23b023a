/** Translation of recordings on a server without a language model, over the real server. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../../src/asr/engines/fake.ts'
import { call, upload } from '../support/http-client.ts'
import { hum } from '../support/recordings.ts'
import { startServer } from '../support/start-server.ts'

type AddOnError = { status_code: number; exception: string; message: string }
type Wrapper<T> = { success: boolean; is_empty: boolean; error: AddOnError | null; results: T }
type Translation = {
  error: AddOnError | null
  full_transcript: string
  languages: string[]
  utterances: object[]
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
) {
  const server = await startServer({ speech: createFakeSpeechEngine(spoken), env })
  t.after(() => server.close())
  async function transcribe(targets: string[], fields: object = {}) {
    const json = {
      ...{ audio_url: await upload(server, hum(4)), translation: true, ...fields },
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

test('a target that is the spoken language is a copy, without any translator', async (t) => {
  const { transcribe } = await start(t)
  const { translation, transcription } = await transcribe(['en'])
  const { success, is_empty, error, results } = translation
  assert.deepEqual([success, is_empty, error], [true, false, null])
  const { full_transcript, utterances } = transcription
  assert.deepEqual(results, [{ error: null, full_transcript, languages: ['en'], utterances }])
})

test('other targets say what they need: by themselves, or for all of the add-on', async (t) => {
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
    ...{ audio_to_llm: true, audio_to_llm_config: { prompts: ['Who?'] }, summarization: true },
  })
  for (const { success, is_empty, error, results } of [translation, audio_to_llm]) {
    assert.deepEqual([success, is_empty, results], [false, true, null])
    assert.deepEqual([error!.status_code, error!.exception], [501, 'NotConfigured'])
  }
  assert.match(summarization.results, /Lena/)
})

test('silence does not hide that there is no translator', async (t) => {
  const { transcribe } = await start(t, '')
  const { translation } = await transcribe(['fr', 'de'])
  assert.deepEqual([translation.success, translation.error?.exception], [false, 'NotConfigured'])
})

test('Apertium translates the pairs that it has, hidden words survive, and it is listed', {
  skip: hasPair ? false : 'Apertium is not installed',
}, async (t) => {
  const spoken = 'My dog is here. Lena Smith is happy.'
  const { server, transcribe } = await start(t, spoken, { STENO_APERTIUM: APERTIUM })
  const { translation } = await transcribe(['es', 'de'], {
    ...{ pii_redaction: true, pii_redaction_config: { entity_types: ['NAME'] } },
  })
  const [spanish, german] = translation.results!
  assert.equal(spanish!.error, null)
  assert.match(spanish!.full_transcript, /^Mi perro .*aquí\. \[NAME_1\] .*feliz\./)
  assert.equal(german!.error!.exception, 'NotConfigured')
  assert.match(german!.error!.message, /the pair en-de of Apertium/)
  type Listed = { add_ons: { name: string; is_configured: boolean; languages: string[] }[] }
  const { body } = await call<Listed>(server, '/v2/capabilities')
  const listed = body.add_ons.find(({ name }) => name === 'translation')!
  assert.ok(listed.is_configured && listed.languages.includes('en'))
})

test('a program that is not there is no translator, and the server works without', async (t) => {
  const { transcribe } = await start(t, 'Hello.', { STENO_APERTIUM: '/no/such/program' })
  const { translation } = await transcribe(['es'])
  assert.equal(translation.error?.exception, 'NotConfigured')
})
