/** Recordings in several languages, through the real server; the models take tones for speech. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { SpeechEngineOptions } from '../../../src/asr/model-selection/engine-options.ts'
import { AppError } from '../../../src/errors.ts'
import {
  createTonesEngine,
  installTones,
  removeTones,
  speakWav,
  type TestModel,
} from '../../support/asr/many-languages.ts'
import { type Spoken, synthesizeSpeech } from '../../support/asr/tones.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Utterance = {
  language: string
  language_confidence?: number
  model?: string
  text: string
  start: number
  end: number
}
type Job = {
  status: string
  result: {
    metadata: { warnings: string[] }
    transcription: { languages: string[]; utterances: Utterance[] }
  }
}

const many: TestModel = { id: 'many', languages: ['en', 'fr', 'de', 'es'] }

async function start(
  t: TestContext,
  models: readonly TestModel[],
  options: Partial<SpeechEngineOptions> & { env?: Record<string, string> } = {},
) {
  const { env = {}, ...rest } = options
  const { folder, speech } = await createTonesEngine(t, models, rest)
  const server = await startServer({ speech, env })
  t.after(() => server.close())
  return { server, folder }
}

async function submit(server: TestServer, spoken: readonly Spoken[], fields: object = {}) {
  const json = { audio_url: await upload(server, speakWav(spoken)), ...fields }
  return call<{ id: string; message: string }>(server, '/v2/pre-recorded', { json })
}

async function transcribe(server: TestServer, spoken: readonly Spoken[], fields: object = {}) {
  const { status, body } = await submit(server, spoken, fields)
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  const job = await call<Job>(server, `/v2/pre-recorded/${body.id}`)
  assert.equal(job.body.status, 'done', JSON.stringify(job.body))
  const { metadata, transcription } = job.body.result
  // The last word of each utterance is the process of the model.
  const beginnings = transcription.utterances.map(({ language, text }) => {
    return `${language}: ${text.split(' ').slice(0, 2).join(' ')}`
  })
  const processes = transcription.utterances.map(({ text }) => Number(text.split(' ')[2]))
  return { ...metadata, ...transcription, beginnings, processes }
}

const pause = { seconds: 1.5 }
const four = ['en', 'fr', 'de', 'es'].flatMap((language) => [{ language, seconds: 4 }, pause])
const switching = { language_config: { code_switching: true } }

test('in a recording of four languages each part uses the model of its language', async (t) => {
  const { server } = await start(t, [many])
  const { beginnings, languages, warnings } = await transcribe(server, four, switching)
  assert.deepEqual(beginnings, ['en: en bundled', 'fr: fr many', 'de: de many', 'es: es many'])
  assert.deepEqual(languages.toSorted(), ['de', 'en', 'es', 'fr'])
  assert.deepEqual(warnings, [])
})

test('only requested languages are considered, and a single one is not identified', async (t) => {
  const { server } = await start(t, [many])
  const french = { language_config: { languages: ['fr'], code_switching: true } }
  const alone = await transcribe(server, four, french)
  assert.deepEqual(new Set(alone.beginnings), new Set(['fr: garbled many', 'fr: fr many']))
  const two = { language_config: { languages: ['fr', 'de'], code_switching: true } }
  const { languages } = await transcribe(server, four, two)
  assert.deepEqual(languages.toSorted(), ['de', 'fr'])
})

test('without code switching one language is chosen for the whole recording', async (t) => {
  const { server } = await start(t, [many])
  const spoken = ['de', 'fr', 'de', 'de'].flatMap((language) => [{ language, seconds: 4 }, pause])
  const { beginnings } = await transcribe(server, spoken)
  assert.deepEqual(beginnings, ['de: de many', 'de: garbled many', 'de: de many', 'de: de many'])
})

test('short speech gets the language of its neighbor', async (t) => {
  const { server } = await start(t, [many])
  const spoken = [
    { language: 'fr', seconds: 4 },
    pause,
    { language: 'de', seconds: 0.5 },
    pause,
    { language: 'de', seconds: 4 },
  ]
  const { beginnings } = await transcribe(server, spoken, switching)
  assert.deepEqual(
    beginnings.map((text) => text.slice(0, 2)),
    ['fr', 'fr', 'de'],
  )
})

test('a language change within long speech is detected', async (t) => {
  const { server } = await start(t, [many])
  const spoken = [
    { language: 'fr', seconds: 5 },
    { language: 'de', seconds: 6 },
  ]
  const { beginnings, utterances } = await transcribe(server, spoken, switching)
  assert.deepEqual(beginnings, ['fr: fr many', 'de: de many'])
  assert.ok(Math.abs(utterances[1]!.start - 5) < 1, `${utterances[1]!.start}`)
})

test('results include models and language confidence if configured', async (t) => {
  const { server } = await start(t, [many], { env: { STENO_RESULT_MODEL: 'true' } })
  const { utterances } = await transcribe(server, four.slice(0, 4), switching)
  assert.deepEqual(
    utterances.map(({ model }) => model),
    ['bundled@1', 'many@r1'],
  )
  for (const { language_confidence: sure } of utterances) assert.ok(sure! > 0.9 && sure! <= 1)
  const { server: usual } = await start(t, [many])
  const [first] = (await transcribe(usual, four.slice(0, 4), switching)).utterances
  assert.ok(!('model' in first!) && !('language_confidence' in first!))
})

test('stt-3 uses the most accurate model, and stt-fusion two', async (t) => {
  const models = [
    { id: 'large', languages: ['de'], memoryBytes: 1000 },
    { id: 'small', languages: ['de'], memoryBytes: 10 },
  ]
  const env = {
    STENO_RESULT_MODEL: 'true',
    STENO_MODEL_ALIASES: 'best=stt-3',
    STENO_DEFAULT_MODEL_LABEL: 'usual-1',
  }
  const { server } = await start(t, models, { env, aliases: { best: 'stt-3' } })
  const german = { language_config: { languages: ['de'] } }
  const spoken = [{ language: 'de', seconds: 3 }]
  const named = async (model?: string) => {
    const { utterances } = await transcribe(server, spoken, { ...german, ...(model && { model }) })
    return utterances[0]!.model
  }
  assert.equal(await named('stt-1'), 'small@r1')
  assert.equal(await named(), 'small@r1', 'a label is no model')
  assert.equal(await named('stt-3'), 'large@r1')
  assert.equal(await named('best'), 'large@r1')
  assert.equal(await named('stt-fusion'), 'large@r1+small@r1')
})

test('with only English installed no language is identified', async (t) => {
  const { server } = await start(t, [])
  const { beginnings, warnings } = await transcribe(server, [{ language: 'en', seconds: 3 }])
  assert.deepEqual([beginnings, warnings], [['en: en bundled'], []])
})

test('a model installed or removed at run time is used or dropped', async (t) => {
  const { server, folder } = await start(t, [], { models: { memory: 1000, idleSeconds: 0 } })
  const german = { language_config: { languages: ['de'] } }
  const spoken = [{ language: 'de', seconds: 3 }]
  const refused = await submit(server, spoken, german)
  assert.equal(refused.status, 422)
  assert.match(refused.body.message, /whisper-tiny does, but needs \d+ bytes/)
  await installTones(folder, many)
  const { beginnings, processes } = await transcribe(server, spoken, german)
  assert.deepEqual(beginnings, ['de: de many'])
  await ended(processes[0]!)
  const again = await transcribe(server, spoken, german)
  assert.notEqual(again.processes[0], processes[0])
  await removeTones(folder, 'many')
  await delay(3100) // It is read again after three seconds.
  assert.equal((await submit(server, spoken, german)).status, 422)
})

test('a job retried after identification does not identify again', async (t) => {
  const { speech } = await createTonesEngine(t, [many])
  let [identified, failures] = [0, 1]
  const server = await startServer({
    speech: {
      ...speech,
      identifyLanguages(batches, identification, options) {
        const checkpointLanguages: typeof options.checkpointLanguages = (part, identify) => {
          const count = () => {
            identified++
            return identify()
          }
          return options.checkpointLanguages!(part, count)
        }
        return speech.identifyLanguages(batches, identification, {
          ...options,
          checkpointLanguages,
        })
      },
      async runBatch(batch, options) {
        if (failures-- > 0) throw new AppError('engine_failed', 'killed')
        return speech.runBatch(batch, options)
      },
    },
  })
  t.after(() => server.close())
  const { body } = await submit(server, four, switching)
  let job = await call<Job>(server, `/v2/pre-recorded/${body.id}`)
  while (job.body.status !== 'done') {
    await delay(100)
    job = await call<Job>(server, `/v2/pre-recorded/${body.id}`)
  }
  assert.equal(identified, 1)
  const { languages } = job.body.result.transcription
  assert.deepEqual(languages.toSorted(), ['de', 'en', 'es', 'fr'])
})

test('a model removed while loaded finishes its batches', async (t) => {
  const { folder, speech } = await createTonesEngine(t, [many])
  const request = { model: 'stt-1', languages: ['de'], codeSwitching: false, vocabulary: [] }
  const { finals } = speech.selectModels(request)
  const path = join(folder, 'pcm')
  await writeFile(path, synthesizeSpeech([{ language: 'de', seconds: 2 }]))
  const batch = { channel: 0, path, segments: [{ start: 0, end: 32_000 }], ...finals }
  const { signal } = new AbortController()
  await speech.runBatch(batch, { signal })
  await removeTones(folder, 'many')
  await delay(3100)
  assert.deepEqual(speech.languages, ['en'])
  const [again] = await speech.runBatch(batch, { signal })
  assert.equal(again!.words[0]!.text, 'de')
})

/** Resolves when a process has ended. */
async function ended(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await delay(20)
  }
}

test('speech is translated into English by the model of its language', async (t) => {
  const one: TestModel = { id: 'one', languages: ['de', 'fr'], memoryBytes: 10 }
  const { server } = await start(t, [many, one])
  const { body } = await submit(server, four, {
    translation: true,
    translation_config: { target_languages: ['en'] },
    ...switching,
  })
  await server.app.jobs.idle()
  type Translated = { translation: { results: { utterances: { text: string }[] }[] } }
  const job = await call<{ result: Translated }>(server, `/v2/pre-recorded/${body.id}`)
  const [english] = job.body.result.translation.results
  assert.deepEqual(
    english!.utterances.map(({ text }) => text.split(' ').slice(0, -1).join(' ')),
    // English speech is copied.
    ['en bundled', ...['fr', 'de', 'es'].map((code) => `english of ${code} many`)],
  )
})
