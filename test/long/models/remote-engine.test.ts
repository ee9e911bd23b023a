/** The remote engine, through the real server; a stand-in speaks the transcription API. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { remoteOptions } from '../../../src/app/remote-asr.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog, type Log } from '../../../src/observability/log.ts'
import { createTonesEngine, speakWav, type TestModel } from '../../support/asr/many-languages.ts'
import { type Spoken, synthesizeSpeech } from '../../support/asr/tones.ts'
import {
  respond,
  respondWithText,
  startTranscriptionServer,
} from '../../support/asr/transcription-server.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { finalsOf } from '../../support/live/clients/live-messages.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { startServer } from '../../support/server/start-server.ts'

const KEY = 'remote-key-that-nobody-may-see'

type Options = {
  models?: readonly TestModel[]
  env?: Record<string, string>
  live?: boolean
  log?: Log
}

async function start(t: TestContext, { models = [], env = {}, live = false, log }: Options = {}) {
  const remote = await startTranscriptionServer()
  t.after(() => remote.close())
  const settings = {
    STENO_REMOTE_ASR_URL: remote.url,
    STENO_REMOTE_ASR_API_KEY: KEY,
    STENO_REMOTE_ASR_MODEL: 'large',
    STENO_RESULT_MODEL: 'true',
    ...env,
  }
  const config = readConfig(settings)
  const { speech } = await createTonesEngine(t, models, {
    remote: remoteOptions(config, log ?? createLog('silent')),
    aliases: config.models.aliases,
    ...(live && { live: { partialInterval: 0.1 } }),
  })
  const server = await startServer({ speech, env: settings, ...(log && { log }) })
  t.after(() => server.close())
  return { remote, server }
}

type Job = {
  status: string
  error_code: number | null
  result: {
    metadata: { warnings: string[] }
    transcription: {
      languages: string[]
      utterances: { text: string; language: string; model: string; start: number; end: number }[]
    }
  }
}

async function transcribe(
  { server }: Awaited<ReturnType<typeof start>>,
  spoken: readonly Spoken[],
  fields: object = {},
) {
  const json = { audio_url: await upload(server, speakWav(spoken)), ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  return (await call<Job>(server, `/v2/pre-recorded/${body.id}`)).body
}

const pause = { seconds: 1.5 }
const polish = { language_config: { languages: ['pl'] } }

test('a job in a language without a local model uses the remote engine', async (t) => {
  const started = await start(t)
  const { result } = await transcribe(started, [{ language: 'en', seconds: 3 }, pause], polish)
  const [utterance] = result.transcription.utterances
  assert.deepEqual(
    [utterance!.text, utterance!.language, utterance!.model],
    ['hello world', 'pl', 'remote@large'],
  )
  assert.ok(utterance!.start >= 0 && utterance!.end <= 4.5)
  assert.equal(started.remote.seen[0]!.fields.language, 'pl')
})

test('each utterance has the language that the remote engine returned', async (t) => {
  const started = await start(t)
  const languages: Record<string, string> = { 200: 'english', 400: 'german' }
  // The stand-in hears the pitch: samples from one rise to the next.
  started.remote.usual = (response, request) => {
    const { audio } = request
    const rises: number[] = []
    for (let i = 46; i < audio.length; i += 2) {
      if (audio.readInt16LE(i - 2) < 0 && audio.readInt16LE(i) >= 0) rises.push(i / 2)
    }
    const period = (rises.at(-1)! - rises[0]!) / (rises.length - 1)
    const pitch = Math.round(16_000 / period / 100) * 100
    respondWithText(`tone ${pitch}`, { language: languages[pitch]! })(response, request)
  }
  const spoken = ['en', 'de'].flatMap((language) => [{ language, seconds: 3 }, pause])
  const { result } = await transcribe(started, spoken, {
    language_config: { languages: ['en', 'de'], code_switching: true },
  })
  const { utterances, languages: found } = result.transcription
  assert.deepEqual(
    utterances.map(({ language, text }) => `${language} ${text}`),
    ['en tone 200', 'de tone 400'],
  )
  assert.deepEqual(found.toSorted(), ['de', 'en'])
})

test('the remote engine is selected by preference, name or fusion', async (t) => {
  const started = await start(t, {
    env: { STENO_REMOTE_ASR_PREFERRED_BY: 'stt-3', STENO_MODEL_ALIASES: 'gpu=remote' },
  })
  const spoken = [{ language: 'en', seconds: 3 }, pause]
  const english = { language_config: { languages: ['en'] } }
  const modelOf = async (fields: object) => {
    const { result } = await transcribe(started, spoken, { ...english, ...fields })
    return result.transcription.utterances[0]!.model
  }
  assert.equal(await modelOf({}), 'bundled@1')
  assert.equal(await modelOf({ model: 'stt-3' }), 'remote@large')
  assert.equal(await modelOf({ model: 'gpu' }), 'remote@large')
  assert.equal(await modelOf({ model: 'remote' }), 'remote@large')
  const joined = await start(t)
  const { result } = await transcribe(joined, spoken, { ...english, model: 'stt-fusion' })
  assert.match(result.transcription.utterances[0]!.model, /^remote@large\+bundled/)
})

test('capabilities and /v1/models list the remote engine', async (t) => {
  const started = await start(t, { env: { STENO_REMOTE_ASR_LANGUAGES: 'pl,de' } })
  const entry = async () => {
    const { body } = await call<{ models: { installed: Record<string, unknown>[] } }>(
      started.server,
      '/v2/capabilities',
    )
    return body.models.installed.find(({ name }) => name === 'remote')
  }
  assert.deepEqual(await entry(), {
    name: 'remote',
    kind: 'recognition',
    engine: 'remote',
    languages: ['pl', 'de'],
    license: 'unknown',
    version: 'large',
    credit: null,
    word_times: true,
  })
  started.remote.usual = respond({ text: 'dzień dobry' })
  const { result } = await transcribe(started, [{ language: 'en', seconds: 3 }, pause], polish)
  assert.match(result.metadata.warnings.join(), /remote does not measure word times/)
  assert.equal((await entry())!.word_times, false)
  const models = await call<{ data: { id: string; languages: string[] }[] }>(
    started.server,
    '/v1/models',
  )
  const listed = models.body.data.find(({ id }) => id === 'remote')
  assert.deepEqual(listed!.languages, ['pl', 'de'])
})

test('a rejected key fails the job at once and is not exposed', async (t) => {
  const { log, lines } = captureLog()
  const started = await start(t, { log })
  const { remote } = started
  remote.usual = respond({ error: { message: `bad key ${KEY}` } }, 401)
  const job = await transcribe(started, [{ language: 'en', seconds: 3 }, pause], polish)
  assert.deepEqual([job.status, job.error_code, remote.seen.length], ['error', 502, 1])
  assert.ok(lines.length > 3)
  assert.ok(!JSON.stringify([job, lines]).includes(KEY))
})

test('a failing engine is retried, and its error ends the job', async (t) => {
  const started = await start(t, { env: { STENO_JOB_MAX_ATTEMPTS: '1' } })
  started.remote.usual = respond({}, 503, { 'retry-after': '0' })
  const job = await transcribe(started, [{ language: 'en', seconds: 3 }, pause], polish)
  assert.equal(job.status, 'error')
  assert.match(
    JSON.stringify(job),
    /its only attempt failed: .*the remote engine: it responds with 503/,
  )
  started.remote.next.push(respond({}, 503))
  started.remote.usual = respondWithText('dzień dobry')
  const again = await transcribe(started, [{ language: 'en', seconds: 3 }, pause], polish)
  assert.equal(again.result.transcription.utterances[0]!.text, 'dzień dobry')
})

async function listen(
  { server }: Awaited<ReturnType<typeof start>>,
  languages: readonly string[],
  seconds = 3,
) {
  const { url } = await openSession(server, { language_config: { languages } })
  const client = await connect(url)
  client.send(
    synthesizeSpeech([{ language: 'en', seconds }, pause, { language: 'en', seconds }, pause]),
  )
  client.stop()
  await client.closed
  return finalsOf(client.messages).map(({ data }) => data.utterance.text.trim())
}

test('finals of a live session use the remote engine', async (t) => {
  const started = await start(t, { live: true })
  assert.deepEqual(await listen(started, ['pl']), ['hello world', 'hello world'])
})

test('a live session falls back to a local model when the engine fails', async (t) => {
  const started = await start(t, { live: true })
  started.remote.usual = respond({}, 500)
  const finals = await listen(started, ['en'])
  assert.deepEqual(
    finals.map((text) => text.split(' ').slice(0, 2).join(' ')),
    ['en bundled', 'en bundled'],
  )
  const { length } = started.remote.seen
  await listen(started, ['en'])
  assert.equal(started.remote.seen.length, length, 'further finals do not wait for it')
})

test('without a local model finals wait for the remote engine', async (t) => {
  const started = await start(t, { live: true })
  started.remote.next.push(respond({}, 500), respond({}, 500))
  assert.deepEqual(await listen(started, ['pl']), ['hello world', 'hello world'])
})
