// Sessions whose connection is cut again and again are those of a client that was never cut off.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import type { LiveMessage, LiveType } from '../../support/live/clients/live-messages.ts'
import { startReconnectingClient } from '../../support/live/clients/reconnecting-client.ts'
import { makeLiveAudio, streamOf } from '../../support/live/live-audio.ts'
import {
  assertReceived,
  assertSame,
  jobOf,
  transcribeUndisturbed,
} from '../../support/live/live-comparison.ts'
import { randomClient, randomParams, within } from '../../support/live/random-client.ts'
import { type CuttingProxy, startProxy } from '../../support/net/cutting-proxy.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const ROUNDS = rounds(3)
/** A session that is still going after so long hangs. */
const TIMEOUT_MS = 30_000

let server: TestServer

before(async () => {
  server = await startServer({
    speech: createFakeSpeechEngine('', { fingerprint: true }),
    env: { STENO_MAX_LIVE_SESSIONS: '1000', STENO_LIVE_PARTIAL_INTERVAL_MS: '50' },
  })
})
after(() => server.close())

/** At each of these the session changes. */
const turns: LiveType[] = ['stop_recording', 'end_recording', 'post_transcript']

/** Cuts the connections of a proxy at moments that chance chooses, `cuts` times at most. */
function cutAtRandom(proxy: CuttingProxy, random: () => number, { bytes, cuts }: Storm) {
  let left = cuts
  let after = Number.POSITIVE_INFINITY
  let turn: LiveType | undefined

  const upTo = () => Math.ceil(random() < 0.5 ? bytes ** random() : bytes * random())

  function arm(): void {
    if (left-- <= 0) return
    const dice = random()
    // From the first bytes of a handshake to all there is, every order of magnitude alike.
    if (dice < 0.3) void proxy.cutAfter(upTo(), 'up').then(arm)
    else if (dice < 0.6) void proxy.cutAfter(Math.ceil(5000 ** random()), 'down').then(arm)
    else if (dice < 0.9) after = Math.ceil(50 ** random())
    else turn = turns[Math.floor(random() * turns.length)]!
  }

  arm()
  return {
    onMessage({ type }: LiveMessage): void {
      if (type !== turn && --after > 0) return
      after = Number.POSITIVE_INFINITY
      turn = undefined
      proxy.cut()
      arm()
    },
  }
}

type Storm = { bytes: number; cuts: number }

test('a session with repeated connection cuts equals one without', async (t) => {
  let [cuts, repeated, messages] = [0, 0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round
    const random = createRandom(seed)
    const audio = makeLiveAudio(random, { seconds: 4 + 20 * random() })
    const params = randomParams(random)
    const expected = await transcribeUndisturbed(server, audio, params)
    const proxy = await startProxy(server.url)
    const stream = streamOf(audio)
    const storm = cutAtRandom(proxy, random, {
      bytes: stream.length,
      cuts: 2 + Math.floor(random() * 8),
    })
    const { id, url } = await openSession(server, { ...params, ...audio.params })
    const manner = randomClient(random, audio)
    const client = startReconnectingClient({
      url: proxy.through(url),
      stream,
      random,
      ...manner,
      onMessage: storm.onMessage,
    })
    try {
      const recognized = await within(TIMEOUT_MS, client.ended)
      repeated += assertReceived(recognized, await assertSame(server, { id, audio, expected }))
      messages += recognized.texts.length
      cuts += client.closes.length - 1
    } catch (cause) {
      const { resend, window } = manner
      const closes = client.closes.map(({ code }) => code)
      const how = JSON.stringify({ seed, resend, window, params: audio.params, closes })
      throw new Error(`round ${round}: ${how}: ${cause}`, { cause })
    } finally {
      client.leave()
      await proxy.close()
    }
  }
  t.diagnostic(`${cuts} cuts; ${repeated} of ${messages} messages came more than once`)
  assert.ok(cuts >= ROUNDS)
})

test('audio after an oversized frame is not stored, and the client sends it again', async () => {
  const audio = makeLiveAudio(createRandom(SEED), { seconds: 20 }).audio.subarray(0, 200)
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.terminate()
  // A connection that is resumed may begin with a large frame, but not go on with one.
  const client = await connect(url)
  client.send(audio.subarray(0, 100))
  client.send(Buffer.alloc(2 ** 20 + 1))
  client.send(audio.subarray(100))
  client.stop()
  assert.equal((await client.closed).code, 1009)
  const again = await connect(url)
  again.stop()
  assert.equal((await again.closed).code, 1000)
  const { result } = await jobOf(server, id)
  assert.equal(result!.metadata.audio_duration, 100 / 32_000)
})
