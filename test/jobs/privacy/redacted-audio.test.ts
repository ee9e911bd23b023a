import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createFakeSpeechEngine, type FakeOptions } from '../../support/asr/fake-speech-engine.ts'
import { channelsOf, noise, waveOf } from '../../support/audio/noise.ts'
import { audioForm, call, type ErrorBody, type Uploaded } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'

const SECONDS = 5
const one = noise(SECONDS, 1)
const two = noise(SECONDS, 2)
/** The second channel sounds like the first. */
const recording = waveOf([one, one, two])

const redacting = {
  pii_redaction: true,
  pii_redaction_config: { entity_types: 'NAME', processed_text_type: 'MASK', audio: true },
}

type Word = { word: string; start: number; end: number }
type Job = {
  id: string
  status: string
  file: { id: string; filename: string; audio_duration: number; number_of_channels: number }
  result: { transcription: { utterances: { words: Word[] }[] } } | null
}

/** A server that hears a name in every recording; closed with the test. */
async function startRecognition(t: TestContext, options: FakeOptions = {}): Promise<TestServer> {
  const transcript = 'Hello there, my name is Lena and that is all.'
  const server = await startServer({ speech: createFakeSpeechEngine(transcript, options) })
  t.after(() => server.close())
  return server
}

async function send(server: TestServer, name = 'talk.one.wav'): Promise<string> {
  const body = audioForm(recording, name)
  return (await call<Uploaded>(server, '/v2/upload', { body })).body.audio_url
}

async function create(server: TestServer, fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: fields })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

async function ended(server: TestServer, id: string): Promise<Job> {
  await server.app.jobs.idle()
  return (await call<Job>(server, `/v2/pre-recorded/${id}`)).body
}

function get(server: TestServer, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-service-key': server.key, ...init.headers }
  return fetch(server.url + path, { ...init, headers })
}

async function refusal(server: TestServer, path: string): Promise<string> {
  const { status, body } = await call<ErrorBody>(server, path)
  return `${status} ${body.message}`
}

async function storedObjects({ folder }: TestServer): Promise<string[]> {
  const names = await readdir(join(folder, 'objects'), { recursive: true })
  return names.flatMap((name) => name.match(/[0-9a-f-]{36}$/) ?? [])
}

/**
 * From where to where two channels differ, in samples: noise and tone agree here and there by
 * chance.
 */
function difference(before: Int16Array, after: Int16Array): { start: number; end: number } {
  const differs = (_: number, i: number) => before[i] !== after[i]
  return { start: after.findIndex(differs), end: after.findLastIndex(differs) + 1 }
}

test('redacted spans are beeped on all matching channels, the rest is unchanged', async (t) => {
  const server = await startRecognition(t)
  const id = await create(server, { audio_url: await send(server), ...redacting })
  const job = await ended(server, id)
  assert.equal(job.status, 'done')
  const words = job.result!.transcription.utterances[0]!.words
  const { start, end } = words.find(({ word }) => word.includes('####'))!
  const response = await get(server, `/v2/pre-recorded/${id}/file?redacted=true`)
  assert.equal(response.status, 200)
  const channels = channelsOf(new Uint8Array(await response.arrayBuffer()))
  assert.equal(channels.length, 3)
  for (const [i, original] of [one, one, two].entries()) {
    const channel = channels[i]!
    assert.equal(channel.length, original.length)
    const changed = difference(original, channel)
    assert.ok(Math.abs(changed.start - (start - 0.2) * 16_000) < 16, `${changed.start}`)
    assert.ok(Math.abs(changed.end - (end + 0.2) * 16_000) < 16, `${changed.end}`)
    const tone = channel.slice(changed.start + 160, changed.end - 160)
    // 16 samples are a period of 1 kHz.
    assert.ok(tone.every((sample, n) => n < 16 || sample === tone[n - 16]))
    assert.deepEqual([Math.max(...tone), tone.indexOf(3277, 16) - tone.indexOf(3277)], [3277, 16])
  }
  assert.deepEqual(channels[0], channels[1])
})

test('no trace of the original remains in the data folder or the API', async (t) => {
  const server = await startRecognition(t)
  const audioUrl = await send(server)
  const middle = 2.7 * 16_000
  const needles = [
    ...[one, two].map((samples) => Buffer.from(samples.slice(middle, middle + 64).buffer)),
    Buffer.from(recording.slice(44 + middle * 6, 44 + middle * 6 + 128)),
  ]
  assert.equal((await filesHolding(server.folder, needles)).length, 1, 'it would be found')
  const id = await create(server, { audio_url: audioUrl, ...redacting })
  const job = await ended(server, id)
  assert.deepEqual(await filesHolding(server.folder, needles), [])
  assert.equal((await call(server, audioUrl)).status, 404)
  assert.equal(
    await refusal(server, `/v2/pre-recorded/${id}/file`),
    '404 Cannot find the file: the original was not kept; redacted=true asks for the one that was',
  )
  const again = await call(server, '/v2/pre-recorded', { json: { audio_url: audioUrl } })
  assert.equal(again.status, 400)
  const { filename, audio_duration, number_of_channels } = job.file
  assert.equal(job.file.id, audioUrl.split('/').at(-1))
  assert.deepEqual([filename, audio_duration, number_of_channels], ['talk.one.wav', SECONDS, 3])
})

test('the redacted recording downloads under its own name, also in ranges', async (t) => {
  const server = await startRecognition(t)
  const id = await create(server, { audio_url: await send(server), ...redacting })
  await ended(server, id)
  const paths = ['/v2/pre-recorded', '/v2/transcription']
  for (const path of paths.map((path) => `${path}/${id}/file?redacted=true`)) {
    const head = await get(server, path, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('content-type'), 'application/octet-stream')
    assert.equal(head.headers.get('content-length'), String(recording.length))
    const name = 'attachment; filename="talk.one-redacted.wav"'
    assert.equal(head.headers.get('content-disposition'), name)
    const part = await get(server, path, { headers: { range: 'bytes=0-3' } })
    assert.deepEqual([part.status, await part.text()], [206, 'RIFF'])
  }
})

test('an upload used by another job is kept until that is deleted', async (t) => {
  const server = await startRecognition(t)
  const audioUrl = await send(server)
  const usual = await create(server, { audio_url: audioUrl })
  const id = await create(server, { audio_url: audioUrl, ...redacting })
  await ended(server, id)
  assert.equal((await get(server, `/v2/pre-recorded/${usual}/file`)).status, 200)
  assert.equal((await get(server, new URL(audioUrl).pathname)).status, 200)
  assert.match(await refusal(server, `/v2/pre-recorded/${id}/file`), /^404 .*was not kept/)
  await call(server, `/v2/pre-recorded/${usual}`, { method: 'DELETE' })
  assert.equal((await call(server, audioUrl)).status, 404)
  assert.equal((await storedObjects(server)).length, 1)
})

test('the redacted recording is deleted with its job', async (t) => {
  const server = await startRecognition(t)
  const id = await create(server, { audio_url: await send(server), ...redacting })
  await ended(server, id)
  assert.equal((await storedObjects(server)).length, 1)
  await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.match(await refusal(server, `/v2/pre-recorded/${id}/file?redacted=true`), /^404/)
  assert.deepEqual(await storedObjects(server), [])
})

test('without audio redaction only the original exists', async (t) => {
  const server = await startRecognition(t)
  const { pii_redaction_config } = redacting
  for (const fields of [
    { pii_redaction_config },
    { pii_redaction: true },
    { pii_redaction: true, pii_redaction_config: { audio: false } },
  ]) {
    const id = await create(server, { audio_url: await send(server), ...fields })
    assert.equal((await ended(server, id)).status, 'done')
    const path = `/v2/pre-recorded/${id}/file`
    const reason = '404 Cannot find the file: the job has no redacted recording'
    assert.equal(await refusal(server, `${path}?redacted=true`), reason)
    const response = await get(server, `${path}?redacted=false`)
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), recording)
  }
})

test('until the job ends only the original exists, and it stays if the job fails', async (t) => {
  const [came, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const server = await startRecognition(t, {
    async onBatch() {
      came.resolve()
      await go.promise
      throw new AppError('media_undecodable')
    },
  })
  const id = await create(server, { audio_url: await send(server), ...redacting })
  const path = `/v2/pre-recorded/${id}/file`
  await came.promise
  const early = '404 Cannot find the file: the job has not ended'
  assert.equal(await refusal(server, `${path}?redacted=true`), early)
  assert.equal((await get(server, path)).status, 200)
  go.resolve()
  assert.equal((await ended(server, id)).status, 'error')
  assert.match(await refusal(server, `${path}?redacted=true`), /no redacted recording$/)
  assert.equal((await get(server, path)).status, 200)
})

test('the redacted parameter must be a boolean', async (t) => {
  const server = await startRecognition(t)
  const id = await create(server, { audio_url: await send(server) })
  for (const value of ['1', 'TRUE', 'yes', 'true&redacted=false']) {
    const path = `/v2/pre-recorded/${id}/file?redacted=${value}`
    const { status, body } = await call<ErrorBody>(server, path)
    assert.deepEqual([status, body.validation_errors], [400, ['redacted must be a boolean']])
  }
})
