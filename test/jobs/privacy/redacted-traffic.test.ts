/** Everything that leaves the server for a redacted recording, byte by byte. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import {
  type ChatCall,
  startChatProvider,
  textsToTranslate,
} from '../../support/llm/chat-provider.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startRecordingProxy } from '../../support/net/recording-proxy.ts'
import { startServer } from '../../support/server/start-server.ts'

const SAID = 'Hello Lena Smith, your number is 415 555 2671. Lena, I will kill you.'
const HIDDEN = /lena|smith|415 555|555 2671/i

/** Answers every task with what it was given, so that a leak would come back, too. */
function respond(one: ChatCall): string {
  const { content } = one.messages[1]!
  const { json_schema } = (one.response_format ?? {}) as { json_schema?: { name: string } }
  if (json_schema?.name === 'translation') {
    return JSON.stringify({ translations: textsToTranslate(one) })
  }
  if (json_schema?.name === 'moderation') return '{"flags":[{"sentence":2,"category":"threat"}]}'
  if (json_schema?.name === 'chapter') return JSON.stringify({ headline: content.slice(0, 50) })
  return json_schema ? '{"name":["[NAME_1]"]}' : `“${content.slice(0, 200)}”`
}

const everything = {
  pii_redaction: true,
  pii_redaction_config: { entity_types: ['NAME', 'PHONE_NUMBER'] },
  diarization: true,
  sentences: true,
  subtitles: true,
  display_mode: true,
  named_entity_recognition: true,
  sentiment_analysis: true,
  name_consistency: true,
  summarization: true,
  chapters: true,
  moderation: true,
  translation: true,
  translation_config: { target_languages: ['de', 'en'], model: 'enhanced', context: 'A call.' },
  audio_to_llm: true,
  audio_to_llm_config: { prompts: ['Who called?', 'Quote it.'] },
  structured_data_extraction: true,
  structured_data_extraction_config: { classes: ['name'] },
}

async function start(t: TestContext) {
  const provider = await startChatProvider(respond)
  const receiver = await openReceiver()
  const proxies = [await startRecordingProxy(provider.url), await startRecordingProxy(receiver.url)]
  const [toProvider, toReceiver] = proxies as [(typeof proxies)[0], (typeof proxies)[0]]
  const server = await startServer({
    speech: createFakeSpeechEngine(SAID),
    env: { STENO_LLM_URL: toProvider.through(provider.url), STENO_LLM_MODEL: 'tiny' },
  })
  t.after(async () => {
    await server.close()
    for (const one of [...proxies, provider, receiver]) await one.close()
  })
  return { server, provider, receiver, toProvider, toReceiver }
}

test('only redacted text is sent to the model and the callback', async (t) => {
  const { server, provider, receiver, toProvider, toReceiver } = await start(t)
  const json = {
    audio_url: await upload(server, createToneWav(12)),
    ...everything,
    callback: true,
    callback_config: { url: toReceiver.through(`${receiver.url}/done`) },
  }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const path = `/v2/pre-recorded/${body.id}`
  const { status, result } = (await call<{ status: string; result: object }>(server, path)).body
  assert.equal(status, 'done')
  assert.ok(!HIDDEN.test(JSON.stringify(result)))
  await server.app.delivery.idle()
  const tasks = provider.calls.map(({ response_format }) => {
    return (response_format as { json_schema?: { name: string } })?.json_schema?.name ?? 'text'
  })
  assert.deepEqual([...new Set(tasks)].toSorted(), [
    ...['chapter', 'extraction', 'moderation', 'text', 'translation'],
  ])
  for (const { recorded } of [toProvider, toReceiver]) {
    assert.ok(recorded.includes('[NAME_1]'))
    assert.ok(!HIDDEN.test(recorded))
  }
})
