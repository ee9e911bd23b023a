// Who speaks in live sessions, over the real server: a guess with each final, a response at the
// end.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { AppError } from '../../src/errors.ts'
import { createLog } from '../../src/observability/log.ts'
import { createFakeSpeechEngine, type FakeOptions } from '../support/asr/fake-speech-engine.ts'
import { chunksOf, interleave, synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import { openReceiver } from '../support/delivery/receiver.ts'
import { connect, type LiveClient, openSession } from '../support/live/clients/live-client.ts'
import { finalsOf, ofType } from '../support/live/clients/live-messages.ts'
import { defaultLiveParams } from '../support/live/sessions/default-live-params.ts'
import { call } from '../support/net/http-client.ts'
import { sharedParts } from '../support/server/shared-parts.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

type Params = Record<string, unknown>
type SpeakerUtterance = {
  speaker?: number
  speaker_confidence?: number
  channel: number
  text: string
}
type Felt = { text: string; start: number; speaker?: number }
type Result = {
  transcription: { full_transcript: string; utterances: SpeakerUtterance[] }
  sentiment_analysis?: { results: string }
  diarization?: { success: boolean; error: { exception: string }; results: unknown[] }
}
type Job = { status: string; request_params: Params; result: Result }

const SAID = 'I love it. So it is.'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine(SAID) })
})
after(() => server.close())

/** What a fake engine takes for three voices: it tells them by their loudness. */
const GAINS: Record<string, number> = { a: 1, b: 0.3, c: 0.15 }

/**
 * Each letter is an utterance of 1.2 s by the voice of that name, a blank the time of one without.
 */
function talk(speakers: string): Buffer {
  const turns = [...speakers].map((voice) => {
    if (voice === ' ') return synthesizeAudio('.'.repeat(20))
    const audio = synthesizeAudio(`....${'#'.repeat(12)}....`)
    for (let at = 0; at < audio.length; at += 2) {
      audio.writeInt16LE(Math.round(audio.readInt16LE(at) * GAINS[voice]!), at)
    }
    return audio
  })
  return Buffer.concat(turns)
}

type On = Pick<TestServer, 'url' | 'key'>
type Run = { client: LiveClient; job: Job; reported: (number | undefined)[] }

/** Opens a session, sends `sound`, stops, and waits for the end. */
async function run(
  audio: Buffer,
  realtime: Params,
  { on = server as On, ...more }: Params & { on?: On } = {},
): Promise<Run> {
  const { id, url } = await openSession(on, { realtime_processing: realtime, ...more })
  const client = await connect(url)
  for (const chunk of chunksOf(audio, 32_000)) client.send(chunk)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const { body: job } = await call<Job>(on, `/v2/live/${id}`)
  assert.equal(job.status, 'done')
  return {
    client,
    job,
    reported: finalsOf(client.messages).map(({ data }) => speakerOf(data.utterance)),
  }
}

function speakerOf(utterance: unknown): number | undefined {
  return (utterance as SpeakerUtterance).speaker
}

async function startOther(t: TestContext, options: FakeOptions): Promise<TestServer> {
  const other = await startServer({ speech: createFakeSpeechEngine(SAID, options) })
  t.after(() => other.close())
  return other
}

test('finals have speakers by first appearance, and partials have none', async () => {
  const { client, reported } = await run(
    talk('babbcab'),
    { diarization: true },
    { messages_config: { receive_partial_transcripts: true } },
  )
  assert.deepEqual(reported, [0, 1, 0, 0, 2, 1, 0])
  for (const { data } of ofType(client.messages, 'transcript')) {
    if (!data.is_final) assert.ok(!('speaker' in data.utterance))
  }
})

test('there are no more speakers than requested', async () => {
  const diarization_config = { number_of_speakers: 2 }
  const { reported } = await run(talk('abcab'), { diarization: true, diarization_config })
  assert.deepEqual(reported.toSpliced(2, 1), [0, 1, 0, 1])
  assert.ok(reported[2]! < 2)
})

test('channels have separate speakers, numbered across all channels', async () => {
  const audio = interleave([talk('  a a'), talk('bb  b')])
  const { client } = await run(audio, { diarization: true }, { channels: 2 })
  const reported = finalsOf(client.messages).map(({ data: { utterance } }) => {
    return [utterance.channel, speakerOf(utterance)]
  })
  assert.deepEqual(reported, [
    [1, 0],
    [1, 0],
    [0, 1],
    [0, 1],
    [1, 0],
  ])
})

test('transcript, result and sentiments have the same final speakers', async () => {
  const { client, job } = await run(talk('aaa'), {
    diarization: true,
    sentiment_analysis: true,
    diarization_config: { speaker_confidence: true },
  })
  const { transcription, sentiment_analysis, diarization } = job.result
  // At the end the stand-in takes each utterance for somebody else's turn.
  assert.deepEqual(transcription.utterances.map(speakerOf), [0, 1, 0])
  assert.deepEqual(
    transcription.utterances.map((utterance) => utterance.speaker_confidence),
    [0.8, 0.8, 0.8],
  )
  assert.equal(transcription.full_transcript, `${SAID} ${SAID} ${SAID}`)
  assert.equal(diarization, undefined)
  const [transcript] = ofType(client.messages, 'post_transcript')
  assert.deepEqual(transcript!.data, transcription)
  const [final] = ofType(client.messages, 'post_final_transcript')
  assert.deepEqual(final!.data.transcription, transcription)
  const felt = JSON.parse(sentiment_analysis!.results) as Felt[]
  assert.deepEqual(felt.map(speakerOf), [0, 0, 1, 1, 0, 0])
  const messages = ofType(client.messages, 'sentiment_analysis')
  const guessed = messages.flatMap(({ data }) => data!.results as Felt[])
  assert.deepEqual(guessed.map(speakerOf), Array(6).fill(0))
})

test('speaker confidence is included only if requested', async () => {
  const { job } = await run(talk('a'), { diarization: true })
  assert.ok(!('speaker_confidence' in job.result.transcription.utterances[0]!))
})

test('a final without a usable embedding has no speaker', async (t) => {
  let speakers = 0
  const onLive = (kind: string) => {
    if (kind === 'embed' && ++speakers === 1) throw new Error('no voice')
  }
  const other = await startOther(t, { onLive })
  const { reported } = await run(talk('abb'), { diarization: true }, { on: other })
  assert.deepEqual(reported, [undefined, 0, 0])
})

test('if the final diarization fails, live speakers are kept with an error', async (t) => {
  const onEmbeddings = () => {
    throw new AppError('engine_failed', 'it was killed')
  }
  const other = await startOther(t, { onEmbeddings })
  const { job, client } = await run(talk('aba'), { diarization: true }, { on: other })
  const { transcription, diarization } = job.result
  assert.deepEqual(transcription.utterances.map(speakerOf), [0, 1, 0])
  const { success, error, results } = diarization!
  assert.deepEqual([success, error.exception, results], [false, 'AddonFailed', []])
  const [final] = ofType(client.messages, 'post_final_transcript')
  assert.deepEqual((final!.data as unknown as Result).diarization, diarization)
})

test('a crashed worker is retried in the final diarization', async (t) => {
  let calls = 0
  const onEmbeddings = () => {
    if (++calls === 1) throw new AppError('engine_failed', 'it was killed')
  }
  const other = await startOther(t, { onEmbeddings })
  const { job } = await run(talk('aa'), { diarization: true }, { on: other })
  assert.deepEqual(job.result.transcription.utterances.map(speakerOf), [0, 1])
})

test('a session without speech has no speakers and no error', async () => {
  for (const audio of [Buffer.alloc(0), talk('  ')]) {
    const { reported, job } = await run(audio, { diarization: true })
    assert.deepEqual(reported, [])
    assert.deepEqual(job.result.transcription.utterances, [])
    assert.equal(job.result.diarization, undefined)
  }
})

test('a session without diarization has no speakers', async () => {
  for (const realtime of [{}, { diarization: false }]) {
    const { reported, job } = await run(talk('ab'), realtime)
    assert.deepEqual(reported, [undefined, undefined])
    assert.ok(job.result.transcription.utterances.every((utterance) => !('speaker' in utterance)))
    const { realtime_processing } = defaultLiveParams
    assert.deepEqual(job.request_params.realtime_processing, {
      ...realtime_processing,
      ...realtime,
    })
  }
})

test('requested diarization settings are shown, ignored ones are not', async () => {
  const requested = { diarization: true, diarization_config: { max_speakers: 3, enhanced: true } }
  const { job } = await run(talk('a'), requested)
  const { realtime_processing } = defaultLiveParams
  assert.deepEqual(job.request_params.realtime_processing, {
    ...realtime_processing,
    diarization: true,
    diarization_config: { max_speakers: 3 },
  })
})

test('contradictory speaker counts are rejected', async () => {
  const refused = async (diarization_config: Params) => {
    const json = { realtime_processing: { diarization: true, diarization_config } }
    const { status, body } = await call<{ validation_errors: string[] }>(server, '/v2/live', {
      json,
    })
    return [status, body.validation_errors]
  }
  const path = 'realtime_processing.diarization_config'
  assert.deepEqual(await refused({ min_speakers: 3, max_speakers: 2 }), [
    422,
    [`${path}.min_speakers must not be greater than max_speakers`],
  ])
  assert.deepEqual(await refused({ number_of_speakers: 4, max_speakers: 2 }), [
    422,
    [`${path}.number_of_speakers must not be outside min_speakers and max_speakers`],
  ])
  const [status] = await refused({ number_of_speakers: 0 })
  assert.equal(status, 400)
})

test('a callback gets the speakers', async (t) => {
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  await run(
    talk('ab'),
    { diarization: true },
    {
      callback: true,
      callback_config: { url: `${receiver.url}/told`, receive_lifecycle_events: false },
    },
  )
  await receiver.until('/told', 4)
  const bodies = receiver.at('/told').map(({ body }) => JSON.parse(body))
  const finals = bodies.filter(({ event }) => event === 'live.transcript')
  assert.deepEqual(
    finals.map(({ payload }) => payload?.data?.utterance?.speaker),
    [0, 1],
  )
})

test('speakers are restored by the next process, with complete samples at the end', async (t) => {
  const folder = await makeFolder(t)
  const read: number[] = []
  const start = async () => {
    const config = readConfig({ STENO_DATA_DIR: folder, STENO_API_KEYS: 'test:key' })
    const onEmbeddings = async (to: string) => {
      const samples = await readFile(to.replace(/\.embeddings.*/, ''))
      read.push(samples.length, samples.filter((byte) => byte !== 0).length)
    }
    const speech = createFakeSpeechEngine(SAID, { onEmbeddings })
    const app = await createApp(config, { speech, log: createLog('silent'), ...sharedParts() })
    t.after(() => app.close())
    return { app, key: 'key', url: await app.http.listen({ host: '127.0.0.1', port: 0 }) }
  }
  const first = await start()
  const { id, url } = await openSession(first, { realtime_processing: { diarization: true } })
  const client = await connect(url)
  const audio = talk('ab')
  client.send(audio)
  await client.until(() => finalsOf(client.messages).length === 2)
  await first.app.close()
  // As a loss of power leaves what was never synced.
  await writeFile(join(folder, 'live', id, 'channel-0'), Buffer.alloc(audio.length))
  const second = await start()
  const address = new URL(url)
  address.port = new URL(second.url).port
  const again = await connect(address.href)
  again.send(talk('ba '))
  again.stop()
  assert.equal((await again.closed).code, 1000)
  const finals = [...finalsOf(client.messages), ...finalsOf(again.messages)]
  // What the first client did not confirm came again.
  const byId = new Map(finals.map(({ data }) => [data.id, speakerOf(data.utterance)]))
  assert.deepEqual([...byId.values()], [0, 1, 1, 0])
  const [length, loud] = read as [number, number]
  const whole = Buffer.concat([audio, talk('ba ')])
  assert.ok(length >= whole.length)
  assert.equal(loud, whole.filter((byte) => byte !== 0).length)
})
