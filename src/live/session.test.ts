import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../../test/support/asr/fake-speech-engine.ts'
import {
  connect,
  flags,
  next,
  oneSecond,
  open,
  params,
  stop,
  typesUntilEnd,
  utterance,
} from '../../test/support/live/sessions/test-session.ts'
import type { RecognitionSettings } from '../asr/engines/recognizer.ts'
import type { LiveEngine } from '../asr/live-engine/live-engine.ts'
import { AppError } from '../errors.ts'
import { createDiskSessionStore } from '../storage/live/disk-session-store.ts'
import { viewLiveUtterance } from '../transcript/utterance-view.ts'
import { formatLogRecord } from './journal/log-records.ts'
import { recoverSession } from './journal/session-recovery.ts'
import { routingOf } from './messages/server-messages.ts'
import { SessionLeaseLostError } from './result/live-job-finisher.ts'

test('a session sends its lifecycle messages in the documented order', async (t) => {
  const { session, ended, outcomes } = await open(t)
  const connection = await connect(session)
  connection.receive(utterance, true)
  connection.receive(stop, false)
  assert.deepEqual(await typesUntilEnd(connection), [
    'start_recording',
    'audio_chunk',
    'stop_recording',
    'speech_start',
    'speech_end',
    'transcript',
    'end_recording',
    'post_transcript',
    'post_final_transcript',
    'end_session',
  ])
  assert.equal(connection.closeCode, 1000)
  assert.equal(await ended, 'done')
  assert.equal(outcomes[0]?.duration, 2)
  assert.equal(await session.connect(), 4410)
})

test('after the final messages client frames get no response', async (t) => {
  const stored = Promise.withResolvers<void>()
  const finishing = Promise.withResolvers<void>()
  const { session, store, ended } = await open(t, {
    finish: () => {
      finishing.resolve()
      return stored.promise
    },
  })
  const connection = await connect(session)
  connection.receive(stop, false)
  await finishing.promise
  for (const late of [oneSecond, stop]) connection.receive(late, late === oneSecond)
  stored.resolve()
  await ended
  const lines = (await Array.fromAsync(store.readLines())).flat()
  const last = lines.filter((line) => line.startsWith('message ')).at(-1)!
  assert.match(last, /"type":"end_session"/)
})

test('start_session has the creation time of the job', async (t) => {
  const createdAt = Date.parse('2026-03-04T05:06:07.089Z')
  const callback_config = { ...flags, url: 'https://hooks.example' }
  const { session, store } = await open(t, {
    createdAt,
    params: { ...params, callback: true, callback_config },
  })
  const connection = await connect(session)
  connection.receive(Buffer.alloc(0), true)
  await next(connection.messages(), 'audio_chunk')
  const [, first] = (await Array.fromAsync(store.readLines())).flat()
  const created_at = new Date(createdAt).toISOString()
  const message = { type: 'start_session', session_id: 'a', created_at }
  const head = { type: 'start_session' } as const
  assert.equal(first, formatLogRecord({ kind: 'message', head, text: JSON.stringify(message) }))
})

test('the last two messages wait until the result is stored', async (t) => {
  const stored = Promise.withResolvers<void>()
  const { session } = await open(t, { finish: () => stored.promise })
  const connection = await connect(session)
  connection.receive(stop, false)
  const messages = connection.messages()
  await next(messages, 'post_transcript')
  let isSent = false
  const last = next(messages, 'post_final_transcript').then(() => {
    isSent = true
  })
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  assert.equal(isSent, false)
  stored.resolve()
  await last
})

test('suspending closes clients with 1012 and stores no result', async (t) => {
  const { session, ended, outcomes } = await open(t)
  const connection = await connect(session)
  connection.receive(oneSecond, true)
  await session.suspend()
  assert.equal(connection.closeCode, 1012)
  assert.equal(await ended, 'suspended')
  assert.deepEqual(outcomes, [])
  assert.equal(await session.connect(), 1012)
})

test('audio received during suspend is not stored', async (t) => {
  const { session, store } = await open(t)
  const connection = await connect(session)
  connection.receive(oneSecond, true)
  const suspending = session.suspend()
  connection.receive(oneSecond, true)
  await suspending
  assert.equal(store.audioBytes, oneSecond.length)
})

test('a failed engine fails the session with an error message and 4500', async (t) => {
  const onLive = () => {
    throw new TypeError('a mistake in the engine')
  }
  const { session, ended, sent } = await open(t, { fake: { onLive } })
  const connection = await connect(session)
  connection.receive(oneSecond, true)
  const types = await typesUntilEnd(connection)
  assert.equal(types.at(-1), 'error')
  assert.equal(connection.closeCode, 4500)
  assert.equal(await ended, 'failed')
  assert.deepEqual(sent, ['failed'])
  assert.equal(await session.connect(), 4410)
})

test('a failed session sends nothing more while its end is stored', async (t) => {
  const onLive = () => Promise.reject(new Error('lost'))
  const failing = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  const fail = () => {
    failing.resolve()
    return failed.promise
  }
  const { session, ended, store } = await open(t, { fake: { onLive }, fail })
  const connection = await connect(session)
  connection.receive(oneSecond, true)
  await failing.promise
  connection.receive(oneSecond, true)
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  failed.resolve()
  assert.equal(await ended, 'failed')
  const lines = (await Array.fromAsync(store.readLines())).flat()
  assert.match(lines.findLast((line) => line.startsWith('message '))!, /"type":"error"/)
  assert.equal(connection.closeCode, 4500)
})

test('a session that lost its lease stops at once and writes nothing more', async (t) => {
  const lost = new AbortController()
  const { session, ended, sent, store } = await open(t, { lost: lost.signal })
  const connection = await connect(session)
  connection.receive(oneSecond, true)
  await next(connection.messages(), 'audio_chunk')
  lost.abort()
  const { audioBytes, logBytes } = store
  assert.equal(connection.closeCode, 1012)
  connection.receive(oneSecond, true)
  assert.equal(await ended, 'lease_lost')
  await store.sync()
  assert.deepEqual([store.audioBytes, store.logBytes, sent], [audioBytes, logBytes, []])
  assert.equal(await session.connect(), 1012)
})

test('a session that lost its lease while it was opened does not begin', async (t) => {
  const { session, ended, sent, store } = await open(t, { lost: AbortSignal.abort() })
  assert.equal(await session.connect(), 1012)
  assert.equal(await ended, 'lease_lost')
  await store.sync()
  assert.deepEqual([store.audioBytes, store.logBytes, sent], [0, 0, []])
})

test('a session that finds its lease lost at the end sends no error', async (t) => {
  const finish = () => Promise.reject(new SessionLeaseLostError())
  const { session, ended, sent, store } = await open(t, { finish })
  const connection = await connect(session)
  connection.receive(Buffer.from('{"type":"stop_recording"}'), false)
  assert.equal(await ended, 'lease_lost')
  assert.equal(connection.closeCode, 1012)
  assert.deepEqual(sent, [])
  const lines = (await Array.fromAsync(store.readLines())).flat()
  assert.ok(!lines.some((line) => line.includes('"type":"error"')))
})

test('a failing disk suspends the session and does not fail the job', async (t) => {
  const { session, ended, sent, store } = await open(t)
  const connection = await connect(session)
  store.sync = async () => {
    throw new AppError('storage_full')
  }
  connection.receive(oneSecond, true)
  await typesUntilEnd(connection)
  assert.equal(connection.closeCode, 1011)
  assert.equal(await ended, 'suspended')
  assert.deepEqual(sent, [])
  assert.equal(await session.connect(), 1011)
})

test('a second client replaces the first with 4409', async (t) => {
  const { session, store } = await open(t)
  const first = await connect(session)
  const later = await connect(session)
  assert.equal(first.closeCode, 4409)
  first.receive(oneSecond, true)
  later.receive(oneSecond, true)
  await next(later.messages(), 'audio_chunk')
  assert.equal(store.audioBytes, oneSecond.length)
})

/**
 * Resumes a stopped session for which an earlier process logged `lines`; counts how often speaker
 * embeddings are computed for it.
 */
async function resume(t: TestContext, lines: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  const store = await createDiskSessionStore(join(folder, 'left'))
  t.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  await store.write(undefined, [
    'begin 1',
    ...lines,
    formatLogRecord({ kind: 'stop', reason: 'client' }),
  ])
  const channelPaths = [join(folder, 'left', 'channel-0')]
  await writeFile(channelPaths[0]!, Buffer.alloc(32_000))
  const routing = routingOf({ messages_config: flags, callback: false })
  const reading = { routing, addOnGroups: [], keepSeconds: 1, maxMissed: 9 }
  const earlier = await recoverSession(store, reading)
  let speakers = 0
  const speech = createFakeSpeechEngine('', { onEmbeddings: () => void speakers++ })
  const realtime_processing = { ...params.realtime_processing, diarization: true }
  const requested = { ...params, realtime_processing }
  const { ended, outcomes } = await open(t, {
    store,
    audioFile: { path: store.audioPath, start: store.audioStart },
    earlier,
    channelPaths,
    speech,
    params: requested,
  })
  assert.equal(await ended, 'done')
  const result = JSON.parse((await Array.fromAsync(outcomes[0]!.result())).join(''))
  const { transcription, metadata } = result
  return { speakers, utterances: transcription.utterances, work: metadata.transcription_time }
}

test('completed diarization is not repeated after a restart', async (t) => {
  const view = (speaker: number) => {
    const words = [{ text: 'a', start: 0, end: 1, confidence: 1 }]
    const span = { start: 0, end: 1 }
    return viewLiveUtterance({ channel: 0, language: 'en', words, speaker }, span)
  }
  const text = JSON.stringify(view(0))
  const sent = formatLogRecord({ kind: 'utterance', utterance: { channel: 0, number: 0, text } })
  const cutOff = await resume(t, [sent])
  assert.deepEqual([cutOff.speakers, cutOff.utterances], [1, [view(0)]])
  const diarized = { count: 1, seconds: 1, error: null }
  const done = await resume(t, [
    sent,
    formatLogRecord({ kind: 'spoken', text: JSON.stringify(view(7)) }),
    formatLogRecord({ kind: 'diarized', diarized }),
  ])
  assert.deepEqual([done.speakers, done.utterances, done.work], [0, [view(7)], 1])
})

test('a session with a full log ends like after a stop, with a warning', async (t) => {
  const env = { STENO_LIVE_MAX_LOG_BYTES: '2000' }
  const { session, ended, outcomes } = await open(t, { env })
  const connection = await connect(session)
  for (let i = 0; i < 100; i++) connection.receive(Buffer.alloc(2), true)
  assert.equal(await ended, 'done')
  assert.equal(connection.closeCode, 4408)
  const texts = (await Array.fromAsync(connection.messages())).map(({ text }) => text)
  const error = texts.map((text) => JSON.parse(text)).find(({ type }) => type === 'error')
  assert.match(error.data.message, /STENO_LIVE_MAX_LOG_BYTES/)
  const result = JSON.parse((await Array.fromAsync(outcomes[0]!.result())).join(''))
  assert.match(result.metadata.warnings.join(), /STENO_LIVE_MAX_LOG_BYTES/)
})

test('model, language and vocabulary apply to every call, and warnings are reported', async (t) => {
  const fake = {
    model: 'other',
    languages: ['fr', 'de'],
    capabilities: { vocabulary: true },
    warnings: ['of the model'],
  }
  const speech = createFakeSpeechEngine('oui', fake)
  const calls = new Set<string>()
  const { recognizeFinal, recognizePartial } = speech.live!
  const note = (kind: string, { model, language, vocabulary }: RecognitionSettings) => {
    calls.add(`${kind} ${model} ${language} ${vocabulary}`)
  }
  const engine: LiveEngine = {
    ...speech.live!,
    recognizeFinal(utterance, options) {
      note('final', options)
      return recognizeFinal(utterance, options)
    },
    recognizePartial(utterance, options) {
      note('partial', options)
      return recognizePartial(utterance, options)
    },
  }
  const realtime_processing = {
    ...params.realtime_processing,
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: ['Steno', { value: 'Ada' }] },
  }
  const requested = {
    ...params,
    realtime_processing,
    messages_config: { ...flags, receive_partial_transcripts: true },
    language_config: { languages: ['en', 'fr'], code_switching: false },
  }
  const { session, ended, outcomes } = await open(t, { speech, engine, params: requested })
  const connection = await connect(session)
  connection.receive(utterance, true)
  connection.receive(utterance, true)
  connection.receive(stop, false)
  await ended
  assert.deepEqual([...calls].sort(), ['final other fr Steno,Ada', 'partial other fr Steno,Ada'])
  const { metadata, transcription } = JSON.parse(
    (await Array.fromAsync(outcomes[0]!.result())).join(''),
  )
  assert.deepEqual(transcription.languages, ['fr'])
  const left = 'language_config: other does not support en'
  assert.deepEqual(metadata.warnings, [left, 'of the model'])
})
