/** Who spoke when, by the real models on real voices; what goes wrong, by a stand-in. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { createSpeechEngine } from '../../../src/asr/create-speech-engine.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine, type FakeOptions } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type SpokenText = { text: string; start: number; channel: number; speaker?: number }
type Utterance = SpokenText & { speaker_confidence?: number }
type Failed = { success: boolean; results: unknown; error: { exception: string } | null }
type Result = {
  transcription: { full_transcript: string; utterances: Utterance[] }
  diarization?: Failed
  sentences?: { results: SpokenText[] }
  sentiment_analysis?: { results: SpokenText[] }
}

/** Starts a server with an engine, and gives what makes jobs there of one recording. */
async function startJobs(speech: SpeechEngine, recording: Uint8Array<ArrayBuffer>, env = {}) {
  const server = await startServer({ speech, env })
  const audioUrl = await upload(server, recording)
  return { server, resultOf: (fields: object) => resultOf(server, audioUrl, fields) }
}

async function resultOf(server: TestServer, audio_url: string, fields: object): Promise<Result> {
  const json = { audio_url, ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  const job = await call<{ status: string; result: Result }>(server, `/v2/pre-recorded/${body.id}`)
  assert.equal(job.body.status, 'done')
  return job.body.result
}

function fixture(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return readFile(new URL(`../../fixtures/${name}`, import.meta.url))
}

function realEngine(): SpeechEngine {
  const { folder } = readConfig({}).models
  return createSpeechEngine({ folder, workers: 2, log: createLog('error') })
}

/** The speaker at each of these seconds: of the last utterance that began before. */
function speakersAt(utterances: readonly SpokenText[], seconds: readonly number[]) {
  return seconds.map((at) => utterances.findLast(({ start }) => start <= at)?.speaker)
}

test('two alternating voices are two speakers, deterministically', async () => {
  const env = { STENO_ADDON_RESULTS: 'native' }
  const { server, resultOf } = await startJobs(realEngine(), await fixture('two-voices.wav'), env)
  try {
    const plain = await resultOf({ diarization: true, sentences: true, sentiment_analysis: true })
    const { utterances, full_transcript } = plain.transcription
    const turns = [1.5, 5, 8.7, 12]
    assert.deepEqual(speakersAt(utterances, turns), [0, 1, 0, 1])
    assert.equal(plain.diarization, undefined)
    for (const items of [plain.sentences!.results, plain.sentiment_analysis!.results]) {
      assert.deepEqual(speakersAt(items, turns), [0, 1, 0, 1])
    }
    assert.ok(utterances.every((utterance) => !('speaker_confidence' in utterance)))

    const config = { number_of_speakers: 1, speaker_confidence: true }
    const alone = await resultOf({ diarization: true, diarization_config: config })
    assert.deepEqual(
      new Set(alone.transcription.utterances.map(({ speaker }) => speaker)),
      new Set([0]),
    )
    assert.equal(alone.transcription.full_transcript, full_transcript)
    for (const { speaker_confidence: sure } of alone.transcription.utterances) {
      assert.ok(sure !== undefined && sure >= 0 && sure <= 1, `${sure}`)
    }

    const again = await resultOf({ diarization: true })
    assert.deepEqual(again.transcription.utterances, utterances)
    const without = await resultOf({})
    assert.ok(without.transcription.utterances.every((utterance) => !('speaker' in utterance)))
  } finally {
    await server.close()
  }
})

test('channels have separate speakers', async () => {
  const { server, resultOf } = await startJobs(realEngine(), await fixture('two-channels.wav'))
  try {
    const { utterances } = (await resultOf({ diarization: true })).transcription
    const pairs = new Set(utterances.map(({ channel, speaker }) => `${channel}:${speaker}`))
    const [first] = utterances
    assert.equal(first!.speaker, 0)
    assert.deepEqual(pairs, new Set([`${first!.channel}:0`, `${1 - first!.channel}:1`]))
  } finally {
    await server.close()
  }
})

async function resultOfFake(options: FakeOptions) {
  const speech = createFakeSpeechEngine('hello world', options)
  const { server, resultOf } = await startJobs(speech, createToneWav(12))
  try {
    return await resultOf({ diarization: true })
  } finally {
    await server.close()
  }
}

test('a failed diarization leaves the transcript without speakers and an error', async () => {
  const { transcription, diarization } = await resultOfFake({
    onEmbeddings() {
      throw new Error('hello')
    },
  })
  assert.ok(transcription.utterances.length > 0)
  assert.ok(transcription.utterances.every((utterance) => !('speaker' in utterance)))
  const { success, results, error } = diarization!
  assert.deepEqual([success, results, error?.exception], [false, [], 'AddonFailed'])
})
