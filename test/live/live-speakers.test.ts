// Two voices that take turns in a live session, over the real server with the real models.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSpeechEngine } from '../../src/asr/create-speech-engine.ts'
import { readSamples } from '../../src/asr/segmentation/read-samples.ts'
import { decodeMedia } from '../../src/audio/decode-media.ts'
import { SAMPLE_RATE } from '../../src/audio/pcm.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { finalsOf } from '../support/live/clients/live-messages.ts'
import { call } from '../support/net/http-client.ts'
import { startServer } from '../support/server/start-server.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

/** Played so much faster, a voice is that of somebody else. */
const OTHER = 1.25
/** Sentences of the recording, in seconds. */
const sentences: [number, number][] = [
  [0.2, 2.4],
  [5.2, 7.7],
  [8, 10.8],
]

/**
 * The sentences by turns: each once as it is and once faster, with a second of silence behind it.
 */
async function makeTalk(t: TestContext): Promise<Buffer[]> {
  const folder = await makeFolder(t)
  const { signal } = new AbortController()
  const fixture = join(import.meta.dirname, '../fixtures', 'jfk.flac')
  const { channels } = await decodeMedia(fixture, join(folder, 'jfk'), { signal, maxSeconds: 60 })
  const { path, samples } = channels[0]!
  const audio = readSamples(path, 0, samples)
  return sentences.flatMap(([start, end]) => {
    return [1, OTHER].map((speed) => {
      const length = Math.floor(((end - start) * SAMPLE_RATE) / speed)
      const turn = new Int16Array(length + SAMPLE_RATE)
      for (let i = 0; i < length; i++) {
        turn[i] = 32_767 * audio[Math.floor(start * SAMPLE_RATE + i * speed)]!
      }
      return Buffer.from(turn.buffer)
    })
  })
}

test('two alternating voices are two speakers, live and in the result', async (t) => {
  const speech = createSpeechEngine({
    folder: readConfig({}).models.folder,
    workers: 1,
    log: createLog('silent'),
    live: { partialInterval: 0.3, measuresCapacity: false },
  })
  const server = await startServer({ speech })
  t.after(async () => {
    await server.close()
    await speech.close()
  })
  const params = { realtime_processing: { diarization: true } }
  const { id, url } = await openSession(server, params)
  const client = await connect(url)
  for (const turn of await makeTalk(t)) client.send(turn)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  type SpeakerUtterance = { speaker?: number; text: string }
  const reported = finalsOf(client.messages).map(({ data }) => data.utterance as SpeakerUtterance)
  assert.deepEqual(
    reported.map(({ speaker }) => speaker),
    [0, 1, 0, 1, 0, 1],
    JSON.stringify(reported.map(({ text }) => text)),
  )
  type Job = { result: { transcription: { utterances: SpeakerUtterance[] } } }
  const { body } = await call<Job>(server, `/v2/live/${id}`)
  const { utterances } = body.result.transcription
  assert.deepEqual(
    utterances.map(({ speaker }) => speaker),
    [0, 1, 0, 1, 0, 1],
  )
})
