import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import {
  respond,
  respondWithText,
  startTranscriptionServer,
} from '../../../../test/support/asr/transcription-server.ts'
import type { AppError } from '../../../errors.ts'
import { createServiceClient } from '../../../net/service-client.ts'
import type { Segment } from '../recognizer.ts'
import { createRemoteRecognizer, type RemoteOptions } from './remote-recognizer.ts'

const folder = await mkdtemp(join(tmpdir(), 'steno-remote-'))
const path = join(folder, 'channel')
const samples = Int16Array.from({ length: 16_000 * 20 }, (_, i) => i % 1000)
await writeFile(path, Buffer.from(samples.buffer))
const server = await startTranscriptionServer()
after(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  server.next.length = 0
  server.seen.length = 0
  server.aborted = 0
  server.usual = respondWithText('hello world')
})

const apiKey = 'key-that-nobody-may-see'

function create(t: { after(f: () => unknown): void }, change: Partial<RemoteOptions> = {}) {
  const remote = createRemoteRecognizer({
    client: createServiceClient({ url: server.url, apiKey, pauseMs: 1 }),
    model: 'whisper-1',
    languages: [],
    timeout: 5,
    concurrency: 2,
    preferredBy: [],
    apiKey,
    ...change,
  })
  t.after(() => remote.close())
  return remote
}

const batch = { channel: 0, path, model: 'remote', language: 'en', languages: ['en'] }
const second = (from: number): Segment => ({ start: from * 16_000, end: (from + 1) * 16_000 })

function call(use: 'batch' | 'live' = 'batch', signal = AbortSignal.timeout(20_000)) {
  return { use, signal }
}

test('each segment is sent as one request, with times relative to the recording', async (t) => {
  const remote = create(t)
  const segments = [second(2), second(5)]
  const task = { ...batch, segments, vocabulary: ['Ada', 'Turing'] }
  const [first, other] = await remote.recognize(task, call())
  assert.deepEqual(
    [...first!.words, ...other!.words].map(({ text, start, end }) => [text, start, end]),
    [
      ['hello', 2, 2.5],
      ['world', 2.5, 3],
      ['hello', 5, 5.5],
      ['world', 5.5, 6],
    ],
  )
  assert.deepEqual([first!.language, first!.model], ['en', 'remote@whisper-1'])
  const sent = server.seen.find(({ audio }) => audio.readInt16LE(44) === samples[32_000])!
  assert.equal(sent.audio.length, 44 + 32_000)
  assert.equal(sent.path, '/v1/audio/transcriptions')
  assert.deepEqual(sent.fields, {
    model: 'whisper-1',
    language: 'en',
    prompt: 'Ada, Turing',
    response_format: 'verbose_json',
    'timestamp_granularities[]': ['word', 'segment'],
  })
  assert.equal(sent.authorization, `Bearer ${apiKey}`)
})

test('unsupported timestamps and formats are not requested again', async (t) => {
  const refuse = (what: string) => respond({ error: { message: `${what} is not supported` } }, 400)
  server.usual = (response, request) => {
    const { response_format, ...fields } = request.fields
    if (fields['timestamp_granularities[]'])
      return refuse('timestamp_granularities')(response, request)
    if (response_format !== 'json')
      return refuse("response_format 'verbose_json'")(response, request)
    respond({ text: 'hi there' })(response, request)
  }
  const remote = create(t)
  assert.equal(remote.describe().capabilities.wordTimes, true)
  const [found] = await remote.recognize(
    { ...batch, segments: [second(1)], vocabulary: [] },
    call(),
  )
  assert.deepEqual(
    found!.words.map(({ text }) => text),
    ['hi', 'there'],
  )
  assert.deepEqual(found!.warnings, ['remote does not measure word times: they are estimates'])
  const { wordTimes, identifiesLanguages } = remote.describe().capabilities
  assert.deepEqual([wordTimes, identifiesLanguages, server.seen.length], [false, false, 3])
  await remote.recognize({ ...batch, segments: [second(1)], vocabulary: [] }, call())
  assert.equal(server.seen.length, 4, 'it remembers')
})

test('identify chooses among the allowed languages', async (t) => {
  const remote = create(t)
  const task = { path, segments: [{ start: 0, end: 320_000 }], model: 'remote', isMixed: false }
  server.usual = respondWithText('guten Tag', { language: 'german' })
  const [german] = (await remote.identify({ ...task, languages: ['en', 'de'] }, call())).flat()
  assert.deepEqual(german!.probabilities, [{ language: 'de', probability: 0.9 }])
  assert.equal(german!.seconds, 20)
  assert.ok(server.seen[0]!.audio.length <= 44 + 320_000, 'the middle suffices')
  const [other] = (await remote.identify({ ...task, languages: ['en', 'fr'] }, call())).flat()
  assert.deepEqual(other!.probabilities, [])
  server.usual = respond({ text: 'guten Tag' })
  await assert.rejects(remote.identify({ ...task, languages: ['en', 'de'] }, call()), {
    isTransient: true,
  })
  assert.equal(remote.describe().capabilities.identifiesLanguages, false)
})

test('a rejected API key fails at once and is not shown in the error', async (t) => {
  const remote = create(t)
  const segments = [second(0)]
  const task = { ...batch, segments, vocabulary: [] }
  server.next.push(respond({ error: { message: `Incorrect API key: ${apiKey}` } }, 401))
  const refusal = await remote.recognize(task, call()).catch((error: AppError) => error)
  assert.deepEqual(
    [(refusal as AppError).code, (refusal as AppError).message],
    [
      'remote_engine_refused',
      'Cannot use the remote engine: it responds with 401: see STENO_REMOTE_ASR_API_KEY',
    ],
  )
  server.next.push(respond({ error: { message: `no model for ${apiKey}` } }, 400))
  await assert.rejects(remote.recognize(task, call()), (error: Error) => {
    return /responds with 400: no model for …$/.test(error.message)
  })
  assert.equal(server.seen.length, 2)
})

test('malformed responses and persistent errors fail as transient', async (t) => {
  const remote = create(t)
  const task = { ...batch, segments: [second(0)], vocabulary: [] }
  server.next.push(respond('<html>busy</html>'))
  const transient = { code: 'engine_failed', isTransient: true }
  await assert.rejects(remote.recognize(task, call()), transient)
  server.usual = respond({}, 500)
  await assert.rejects(remote.recognize(task, call()), transient)
  assert.equal(server.seen.length, 1 + 4)
  await assert.rejects(remote.recognize(task, call('live')), transient)
  assert.equal(server.seen.length, 1 + 4 + 2, 'live work waits shorter')
})

test('a prompt echoed as text is discarded, and the request repeated without it', async (t) => {
  const remote = create(t)
  server.next.push(respondWithText('Ada, Turing, Lovelace'), respondWithText('yes'))
  const vocabulary = ['Ada', 'Turing', 'Lovelace']
  const [found] = await remote.recognize({ ...batch, segments: [second(0)], vocabulary }, call())
  assert.deepEqual(
    found!.words.map(({ text }) => text),
    ['yes'],
  )
  assert.equal(server.seen[1]!.fields.prompt, undefined)
})

test('requests run concurrently up to a limit, and are aborted with their task', async (t) => {
  const remote = create(t)
  const stop = new AbortController()
  server.usual = () => {}
  const segments = [second(0), second(1), second(2)]
  const task = remote.recognize({ ...batch, segments, vocabulary: [] }, call('batch', stop.signal))
  while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  stop.abort(new Error('canceled'))
  await assert.rejects(task, /canceled/)
  while (server.aborted < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(server.seen.length, 2)
})

test('a final keeps only words of its own segment, and short audio is padded', async (t) => {
  const remote = create(t)
  const segment = second(3)
  const utterance = { path, segment, context: { start: 40_000, end: 72_000 } }
  const settings = { language: 'en', languages: ['en'], vocabulary: [] }
  server.usual = respondWithText('a b c d')
  const { words } = await remote.recognizeFinal(utterance, settings, call('live'))
  assert.deepEqual(
    words.map(({ text }) => text),
    ['b', 'c'],
  )
  const short = { path, segment: { start: 0, end: 1600 } }
  await remote.recognizeFinal(short, settings, call('live'))
  assert.equal(server.seen[1]!.audio.length, 44 + 16_000)
})
