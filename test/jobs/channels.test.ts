import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSpeechEngine } from '../../src/asr/create-speech-engine.ts'
import { wavHeader } from '../../src/audio/containers/wav-header.ts'
import { decodeMedia } from '../../src/audio/decode-media.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { call, upload } from '../support/net/http-client.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

type Result = {
  metadata: {
    channel_mode: string
    number_of_distinct_channels: number
    audio_duration: number
    billing_time: number
  }
  transcription: { full_transcript: string; utterances: { channel: number; text: string }[] }
}

const SPEECH = new URL('../fixtures/jfk.flac', import.meta.url).pathname

let server: TestServer
let speech: Int16Array
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-channels-'))
  const { signal } = new AbortController()
  const { channels } = await decodeMedia(SPEECH, folder, { signal, maxSeconds: 60 })
  const bytes = readFileSync(channels[0]!.path)
  speech = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
  rmSync(folder, { recursive: true })
  const { folder: models } = readConfig({}).models
  const log = createLog('error')
  server = await startServer({ speech: createSpeechEngine({ folder: models, workers: 1, log }) })
})
after(() => server.close())

/** Transcribes a recording whose channels are made from the speech, sample by sample. */
async function transcribe(
  channels: readonly ((at: number) => number)[],
  fields: Record<string, unknown> = {},
): Promise<Result> {
  const frames = speech.length
  const samples = new Int16Array(frames * channels.length)
  for (let i = 0; i < samples.length; i++) {
    const at = Math.floor(i / channels.length)
    samples[i] = Math.round(channels[i % channels.length]!(at))
  }
  const format = { encoding: 's16', sampleRate: 16_000, channels: channels.length } as const
  const header = wavHeader(format, samples.byteLength)
  const file = new Uint8Array(Buffer.concat([header, new Uint8Array(samples.buffer)]))
  const json = { audio_url: await upload(server, file), ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  const { body: job } = await call<{ result: Result; request_params: { channel_mode?: string } }>(
    server,
    `/v2/pre-recorded/${body.id}`,
  )
  assert.equal(job.request_params.channel_mode, fields.channel_mode)
  return job.result
}

const said = (at: number) => speech[at] ?? 0
const tone = (at: number, pitch: number) => 800 * Math.sin((at * pitch * 2 * Math.PI) / 16_000)

function count({ transcription }: Result, words: RegExp): number {
  return transcription.full_transcript.match(words)?.length ?? 0
}

test('one voice under stereo music is transcribed once, or per channel on request', async () => {
  const stereo = [
    (at: number) => said(at) + tone(at, 440),
    (at: number) => said(at) + tone(at, 587),
  ]
  const mixed = await transcribe(stereo)
  const { metadata } = mixed
  assert.equal(metadata.channel_mode, 'mix')
  assert.equal(metadata.number_of_distinct_channels, 1)
  assert.equal(metadata.billing_time, metadata.audio_duration)
  assert.equal(count(mixed, /what you can do for your country/gi), 1)
  assert.ok(mixed.transcription.utterances.every(({ channel }) => channel === 0))

  const separate = await transcribe(stereo, { channel_mode: 'separate' })
  assert.equal(separate.metadata.channel_mode, 'separate')
  assert.equal(separate.metadata.number_of_distinct_channels, 2)
  assert.equal(count(separate, /what you can do for your country/gi), 2)
})

test('speech leaking at -15 dB is transcribed only in its own channel', async () => {
  const half = Math.floor(speech.length / 2)
  const leak = 10 ** (-15 / 20)
  const first = (at: number) => (at < half ? said(at) : 0)
  const second = (at: number) => (at < half ? 0 : said(at))
  const result = await transcribe([
    (at) => first(at) + leak * second(at - 100),
    (at) => second(at) + leak * first(at - 100),
  ])
  assert.equal(result.metadata.channel_mode, 'separate')
  assert.equal(result.metadata.number_of_distinct_channels, 2)
  const textOf = (wanted: number) => {
    const utterances = result.transcription.utterances.filter(({ channel }) => channel === wanted)
    return utterances.map(({ text }) => text).join(' ')
  }
  assert.match(textOf(0), /fellow Americans/i)
  assert.doesNotMatch(textOf(0), /your country/i)
  assert.match(textOf(1), /your country/i)
  assert.doesNotMatch(textOf(1), /Americans/i)
})
