import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createWyomingServer } from '../../examples/wyoming/wyoming-server.ts'
import { type ClientSet, pythonOf } from '../../scripts/tests/test-tools/test-clients.ts'
import { type ClientServer, SPOKEN } from './client-server.ts'

type Refused = { type: string; status: number; message: string; request_id: string | null }

/** What is recognized in the recording after a client has changed its sample rate. */
const RESAMPLED = /^And so,? my fellow America/

/** A client that hangs fails its test. */
const TIMEOUT_MS = 90_000

/** Runs a program of `programs/`, which prints what its client saw. */
async function run<T>(name: string, args: readonly string[], set: ClientSet): Promise<T> {
  const { program, env } = pythonOf(set)
  const file = join(import.meta.dirname, 'programs', `${name}.py`)
  const options = { env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 }
  const { stdout } = await promisify(execFile)(program, [file, ...args], options)
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T
}

/** The vendor's Python SDK: recordings with options, files, errors, and a live session. */
export async function checkGladiaSdk(server: ClientServer, set: ClientSet): Promise<void> {
  const { url, key, recording, recordingUrl, badFile, pcmFile, receiver } = server
  const path = `/python-sdk-${set}`
  const callbackUrl = receiver.url + path
  const args = [url, key, recording, recordingUrl, badFile, pcmFile, callbackUrl]
  const seen = await run<{
    file: { status: string; text: string; speaker: number; words: number; metadata: object }
    url: string
    download: number
    listed?: boolean[]
    deleted: boolean
    missing: Refused
    bad_file: Refused
    bad_key: Refused
    live: {
      partials: number
      text: string
      types: string[]
      acknowledged: number
      events: unknown[]
    }
  }>('gladia_sdk', args, set)
  assert.match(seen.file.text, SPOKEN)
  assert.deepEqual(
    [seen.file.status, seen.file.speaker, seen.file.metadata],
    ['done', 0, { team: set }],
  )
  assert.match(seen.url, SPOKEN)
  assert.equal(seen.download, readFileSync(recording).byteLength)
  if (set === 'newest') assert.deepEqual(seen.listed, [true])
  assert.equal(seen.deleted, true)
  const statuses = [seen.missing, seen.bad_file, seen.bad_key].map(({ status }) => status)
  assert.deepEqual(statuses, [404, 415, 401])
  assert.match(seen.missing.request_id!, /^G-/)
  await receiver.until(path, 1)
  const { live } = seen
  assert.match(live.text.trim(), SPOKEN)
  assert.ok(live.partials > 0)
  assert.equal(live.acknowledged, readFileSync(pcmFile).byteLength)
  assert.deepEqual(live.events, [['ended', 1000]])
  const types = ['end_recording', 'end_session', 'post_transcript', 'speech_start', 'start_session']
  for (const type of types) assert.ok(live.types.includes(type), type)
}

/** LiveKit agents' plugin: a stream with partials, one recognition, a wrong key. */
export async function checkLivekit(server: ClientServer, set: ClientSet): Promise<void> {
  const seen = await run<{
    stream: { types: string[]; text: string; language: string; words: number }
    recognized: string
    bad_key: { type: string; message: string }
  }>('livekit_stt', [server.url, server.key, server.pcmFile], set)
  assert.match(seen.stream.text, SPOKEN)
  const types = ['end_of_speech', 'final_transcript', 'interim_transcript', 'start_of_speech']
  assert.deepEqual(
    seen.stream.types.filter((type) => types.includes(type)),
    types,
  )
  assert.equal(seen.stream.language, 'en')
  assert.ok(seen.stream.words >= 4)
  assert.match(seen.recognized, SPOKEN)
  assert.match(seen.bad_key.message, /401/)
}

/** LiveKit agents' plugin of OpenAI: one recognition, and a stream whose options change. */
export async function checkLivekitOpenAi(server: ClientServer, set: ClientSet): Promise<void> {
  const { url, key, pcmFile } = server
  type Heard = { text: string; language: string }
  const { recognized, stream } = await run<{
    recognized: Heard
    stream: Heard & { types: string[] }
  }>('livekit_openai', [url, key, pcmFile], set)
  for (const { text, language } of [recognized, stream]) {
    assert.match(text, RESAMPLED)
    assert.equal(language, 'en')
  }
  const types = ['end_of_speech', 'final_transcript', 'interim_transcript', 'start_of_speech']
  assert.deepEqual(stream.types, types)
}

/** pipecat's services in a pipeline, and with a wrong key. */
export async function checkPipecat(server: ClientServer, set: ClientSet): Promise<void> {
  type Heard = { partials: number; finals: string[] }
  const seen = await run<{
    openai: Heard
    openai_realtime: Heard
    session: Heard
    bad_key: { finals: string[]; errors: string[] }
  }>('pipecat_stt', [server.url, server.key, server.pcmFile], set)
  for (const { finals } of [seen.session, seen.openai]) {
    assert.match(finals.join(' ').trim(), SPOKEN)
  }
  assert.match(seen.openai_realtime.finals.join(' '), RESAMPLED)
  assert.ok(seen.session.partials > 0)
  assert.ok(seen.openai_realtime.partials > 0)
  assert.deepEqual(seen.bad_key.finals, [])
  assert.match(seen.bad_key.errors.join(), /401/)
}

/** VideoSDK agents' plugin: a session, and with a wrong key. */
export async function checkVideosdk(server: ClientServer, set: ClientSet): Promise<void> {
  const seen = await run<{
    partials: number
    finals: string[]
    errors: string[]
    close_code: number
    bad_key: string[]
  }>('videosdk_stt', [server.url, server.key, server.pcmFile], set)
  assert.match(seen.finals.join(' '), SPOKEN)
  assert.ok(seen.partials > 0)
  assert.deepEqual([seen.errors, seen.close_code], [[], 1000])
  assert.match(seen.bad_key.join(), /401/)
}

/** OpenAI's Python package: all forms of a transcription, errors, realtime. */
export async function checkOpenAi(server: ClientServer, set: ClientSet): Promise<void> {
  const { url, key, recording, badFile, pcm24File } = server
  type Failure = { type: string; status: number; code: string }
  const seen = await run<{
    json: string
    verbose: { language: string; duration: number; words: number; segments: number }
    srt: string
    stream: { types: string[]; text: string }
    speakers: string[]
    raw: { text: string; id: string }
    async: string
    translation: string
    models: string[]
    model: string
    bad_file: Failure
    bad_model: Failure
    no_model: Failure
    bad_key: Failure
    secret: string
    realtime: { types: string[]; transcripts: string[] }
  }>('openai_sdk', [url, key, recording, badFile, pcm24File], set)
  const texts = [seen.json, seen.stream.text, seen.raw.text, seen.async, seen.translation]
  for (const text of texts) assert.match(text, SPOKEN)
  assert.match(seen.raw.id, /^G-/)
  assert.deepEqual([seen.verbose.language, seen.verbose.duration], ['english', 4])
  assert.ok(seen.verbose.words >= 4 && seen.verbose.segments > 0)
  assert.match(seen.srt, /^1\n00:00:00,/)
  assert.deepEqual(seen.stream.types, ['transcript.text.delta', 'transcript.text.done'])
  assert.deepEqual(seen.speakers, ['A'])
  assert.ok(seen.models.includes('stt-1'))
  assert.equal(seen.model, 'model')
  const failures = [seen.bad_file, seen.bad_model, seen.no_model, seen.bad_key]
  assert.deepEqual(
    failures.map(({ type, status, code }) => [type, status, code]),
    [
      ['BadRequestError', 400, 'media_unsupported'],
      ['BadRequestError', 400, 'request_invalid'],
      ['NotFoundError', 404, 'model_not_found'],
      ['AuthenticationError', 401, 'invalid_api_key'],
    ],
  )
  assert.match(seen.secret, /^ek_/)
  assert.match(seen.realtime.transcripts.join(' '), SPOKEN)
}

/** The package of the Wyoming protocol: what the adapter offers, a speech, and an error. */
export async function checkWyoming(server: ClientServer, set: ClientSet): Promise<void> {
  const adapter = createWyomingServer({ server }).listen(0, '127.0.0.1')
  await once(adapter, 'listening')
  const { port } = adapter.address() as AddressInfo
  const seen = await run<{
    info: { program: string; streaming: boolean; models: Record<string, string[]> }
    heard: { types: string[]; chunks: string[]; text: string; language: string }
    failure: { text: string; ended: boolean }
  }>('wyoming_stt', [String(port), server.pcmFile], set).finally(() => adapter.close())
  assert.deepEqual([seen.info.program, seen.info.streaming], ['steno', true])
  assert.ok(seen.info.models['stt-1']!.includes('en'))
  const { types, chunks, text, language } = seen.heard
  assert.match(text, SPOKEN)
  assert.equal(chunks.join(''), text)
  assert.equal(language, 'en')
  assert.deepEqual([types[0], types.at(-1)], ['transcript-start', 'transcript-stop'])
  assert.match(seen.failure.text, /sample_rate/)
  assert.equal(seen.failure.ended, true)
}
