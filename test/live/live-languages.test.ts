/** Live sessions in several languages, over the real server; the models take tones for speech. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTonesEngine } from '../support/asr/many-languages.ts'
import { type Spoken, synthesizeSpeech } from '../support/asr/tones.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { finalsOf } from '../support/live/clients/live-messages.ts'
import { call } from '../support/net/http-client.ts'
import { startServer } from '../support/server/start-server.ts'

const pause = { seconds: 1.2 }

async function start(t: TestContext) {
  const many = { id: 'many', languages: ['en', 'fr', 'de', 'es'] }
  const { speech } = await createTonesEngine(t, [many], { live: { partialInterval: 0.1 } })
  const server = await startServer({ speech })
  t.after(() => server.close())
  return server
}

/** Returns the finals of a session: language and text without the last word, a process. */
async function listen(t: TestContext, spoken: readonly Spoken[], language_config: object) {
  const server = await start(t)
  const { url } = await openSession(server, { language_config })
  const client = await connect(url)
  client.send(synthesizeSpeech(spoken))
  client.stop()
  await client.closed
  return finalsOf(client.messages).map(({ data }) => {
    const { language, text } = data.utterance
    return `${language}:${text.split(' ').slice(0, 3).join(' ')}`
  })
}

test('in a session of two languages each final uses the model of its language', async (t) => {
  const spoken = ['en', 'de', 'en'].flatMap((language) => [{ language, seconds: 3 }, pause])
  const finals = await listen(t, spoken, { languages: [], code_switching: true })
  assert.deepEqual(finals, ['en: en bundled', 'de: de many', 'en: en bundled'])
})

test('without code switching the first clear language is kept', async (t) => {
  const spoken = [
    { language: 'de', seconds: 0.4 },
    pause,
    { language: 'fr', seconds: 3 },
    pause,
    { language: 'de', seconds: 3 },
    pause,
  ]
  const finals = await listen(t, spoken, { languages: [], code_switching: false })
  assert.deepEqual(finals.slice(-2), ['fr: fr many', 'fr: garbled many'])
})

test('short speech gets the language of the previous utterance', async (t) => {
  const spoken = [
    { language: 'fr', seconds: 3 },
    pause,
    { language: 'de', seconds: 0.5 },
    pause,
    { language: 'de', seconds: 3 },
    pause,
  ]
  const finals = await listen(t, spoken, { languages: ['fr', 'de'], code_switching: true })
  assert.deepEqual(
    finals.map((text) => text.slice(0, 2)),
    ['fr', 'fr', 'de'],
  )
})

test('an alias of stt-fusion fuses two models in live sessions', async (t) => {
  const models = [
    { id: 'large', languages: ['de'], memoryBytes: 1000 },
    { id: 'small', languages: ['de'], memoryBytes: 10 },
  ]
  const aliases = { best: 'stt-fusion' }
  const options = { live: { partialInterval: 0.1 }, aliases }
  const { speech } = await createTonesEngine(t, models, options)
  const env = { STENO_RESULT_MODEL: 'true', STENO_MODEL_ALIASES: 'best=stt-fusion' }
  const server = await startServer({ speech, env })
  t.after(() => server.close())
  const german = { language_config: { languages: ['de'] } }
  const refused = await call(server, '/v2/live', { json: { ...german, model: 'stt-fusion' } })
  assert.equal(refused.status, 400)
  const { url } = await openSession(server, { ...german, model: 'best' })
  const client = await connect(url)
  // A model that is too late is left out, as one that is only starting, or any on a busy machine.
  const utterances = () =>
    finalsOf(client.messages).map(({ data }) => data.utterance as { model?: string })
  do {
    const count = utterances().length
    client.send(synthesizeSpeech([{ language: 'de', seconds: 3 }, pause]))
    await client.until(() => utterances().length > count)
  } while (['small@r1', 'large@r1'].includes(utterances().at(-1)!.model!))
  client.stop()
  await client.closed
  assert.equal(utterances().at(-1)!.model, 'large@r1+small@r1')
})
