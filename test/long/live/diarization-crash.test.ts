// Who speaks is told the same, however often the server is killed meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { openSession } from '../../support/live/clients/live-client.ts'
import {
  type ReconnectingClient,
  startReconnectingClient,
} from '../../support/live/clients/reconnecting-client.ts'
import { type LiveTestAudio, makeLiveAudio, streamOf } from '../../support/live/live-audio.ts'
import {
  assertReceived,
  assertSame,
  type Transcript,
  transcribeUndisturbed,
  untilDone,
} from '../../support/live/live-comparison.ts'
import { randomClient, within } from '../../support/live/random-client.ts'
import { freePort } from '../../support/net/free-port.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { kill, startChild } from '../../support/server/child-server.ts'
import { startServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const SESSIONS = 2
const TIMEOUT_MS = 60_000

type Session = {
  id: string
  audio: LiveTestAudio
  expected: Transcript
  client: ReconnectingClient
}

/**
 * Messages after which the server is killed: in the midst of the speech, of the end, and between.
 */
const KILLS = [40, 60, 15, 25].slice(0, rounds(2))

test('after each kill speakers equal those of an undisturbed session', async (t) => {
  const random = createRandom(SEED)
  const steady = await startServer({
    speech: createFakeSpeechEngine('', { fingerprint: true }),
    env: { STENO_MAX_LIVE_SESSIONS: '1000' },
  })
  t.after(() => steady.close())
  const folder = await makeFolder(t)
  const env = { STENO_PORT: await freePort(), STENO_MAX_LIVE_SESSIONS: '1000' }
  const start = async () => (await startChild(t, folder, { env }))!
  let server = await start()
  let blow = Promise.withResolvers<void>()
  let left = KILLS[0]!
  const onMessage = () => {
    if (--left === 0) blow.resolve()
  }
  const sessions: Session[] = []
  for (let i = 0; i < SESSIONS; i++) {
    const audio = makeLiveAudio(random, { seconds: 12 + 8 * random() })
    const params = {
      realtime_processing: { diarization: true, sentiment_analysis: true },
      messages_config: { receive_lifecycle_events: true },
    }
    const expected = await transcribeUndisturbed(steady, audio, params)
    const { id, url } = await openSession(server, { ...params, ...audio.params })
    const manner = randomClient(random, audio)
    const client = startReconnectingClient({
      url,
      stream: streamOf(audio),
      random,
      ...manner,
      onMessage,
    })
    sessions.push({ id, audio, expected, client })
  }
  t.after(() => {
    for (const { client } of sessions) client.leave()
  })
  const ended = Promise.all(sessions.map(({ client }) => client.ended)).then(() => true)
  for (const [i] of KILLS.entries()) {
    if (await within(TIMEOUT_MS, Promise.race([ended, blow.promise.then(() => false)]))) break
    await kill(server)
    blow = Promise.withResolvers()
    left = KILLS[i + 1] ?? Number.POSITIVE_INFINITY
    server = await start()
  }
  await within(TIMEOUT_MS, ended)
  for (const { id, audio, expected, client } of sessions) {
    await untilDone(server, id)
    assertReceived(client, await assertSame(server, { id, audio, expected }))
    const speakers = new Set(
      expected.channels.flatMap(({ finals }) => {
        return (finals as { utterance: { speaker: number } }[]).map(
          ({ utterance }) => utterance.speaker,
        )
      }),
    )
    assert.ok(speakers.size > 1, 'there are several speakers')
  }
})
