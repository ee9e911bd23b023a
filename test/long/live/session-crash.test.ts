// Sessions whose server is killed again and again are those of a server that never was.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { createApp } from '../../../src/app/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import type { LiveMessage } from '../../support/live/clients/live-messages.ts'
import {
  type ReconnectingClient,
  startReconnectingClient,
} from '../../support/live/clients/reconnecting-client.ts'
import { type LiveTestAudio, makeLiveAudio, streamOf } from '../../support/live/live-audio.ts'
import {
  assertReceived,
  assertSame,
  jobOf,
  type Transcript,
  transcribeUndisturbed,
  untilDone,
} from '../../support/live/live-comparison.ts'
import { randomClient, randomParams, within } from '../../support/live/random-client.ts'
import { freePort } from '../../support/net/free-port.ts'
import { call } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const ROUNDS = rounds(1)
/** Sessions that every kill hits. */
const SESSIONS = 3
const KILLS = 3
const TIMEOUT_MS = 60_000

/** Never killed: what it makes of a sound is what the others have to. */
let steady: TestServer

before(async () => {
  steady = await startServer({
    speech: createFakeSpeechEngine('', { fingerprint: true }),
    env: { STENO_MAX_LIVE_SESSIONS: '1000' },
  })
})
after(() => steady.close())

/** Starts servers on one folder and one port, one after the other. */
async function startLine(t: TestContext, env: Record<string, string> = {}) {
  const folder = await makeFolder(t)
  const settings = { STENO_PORT: await freePort(), STENO_MAX_LIVE_SESSIONS: '1000', ...env }
  return {
    folder,
    async start(more: Record<string, string> = {}): Promise<ChildServer> {
      return (await startChild(t, folder, { env: { ...settings, ...more } }))!
    },
    /** A server that is killed after so long, if it has not begun to listen by then. */
    startBriefly: (startMs: number) => startChild(t, folder, { env: settings, startMs }),
  }
}

type Session = {
  id: string
  audio: LiveTestAudio
  expected: Transcript
  client: ReconnectingClient
}

/** Begins a session with a sound of its own, and what it has to become. */
async function begin(server: ChildServer, random: () => number, options: Begin): Promise<Session> {
  const audio = makeLiveAudio(random, { seconds: options.seconds })
  const params = randomParams(random)
  const expected = await transcribeUndisturbed(steady, audio, params)
  const { id, url } = await openSession(server, { ...params, ...audio.params })
  const { onMessage, lostConnections } = options
  const manner = {
    ...randomClient(random, audio),
    ...(lostConnections !== undefined && { lostConnections }),
  }
  const client = startReconnectingClient({
    url,
    stream: streamOf(audio),
    random,
    ...manner,
    ...(onMessage && { onMessage }),
  })
  return { id, audio, expected, client }
}

type Begin = {
  seconds: number
  lostConnections?: number
  onMessage?: (message: LiveMessage, count: number) => void
}

test('after each kill a session continues with an unchanged result', async (t) => {
  let [kills, repeated, messages] = [0, 0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const random = createRandom(SEED + round)
    const line = await startLine(t)
    let server = await line.start()
    let blow = Promise.withResolvers<void>()
    let after = 0
    const onMessage = () => {
      if (--after === 0) blow.resolve()
    }
    const sessions: Session[] = []
    for (let i = 0; i < SESSIONS; i++) {
      sessions.push(await begin(server, random, { seconds: 4 + 15 * random(), onMessage }))
    }
    const all = Promise.all(sessions.map(({ client }) => client.ended))
    const isOver = all.then(() => true)
    try {
      for (let i = 0; i < KILLS; i++) {
        blow = Promise.withResolvers()
        after = Math.ceil(200 ** random())
        const over = within(TIMEOUT_MS, Promise.race([isOver, blow.promise.then(() => false)]))
        if (
          random() < 0.7 ? await over : await Promise.race([isOver, delay(random() * 150, false)])
        )
          break
        await kill(server)
        kills++
        if (random() < 0.2) {
          const early = await line.startBriefly(100 + random() * 900)
          if (early) await kill(early)
        }
        server = await line.start()
      }
      await within(TIMEOUT_MS, all)
      for (const { id, audio, expected, client } of sessions) {
        // One that was cut off at the very end comes too late to be told.
        await untilDone(server, id)
        repeated += assertReceived(client, await assertSame(server, { id, audio, expected }))
        messages += client.texts.length
      }
    } catch (cause) {
      const how = sessions.map(({ audio, client }) => {
        return { ...audio.params, closes: client.closes.map(({ code }) => code) }
      })
      throw new Error(`seed ${SEED + round}: ${JSON.stringify(how)}: ${cause}`, { cause })
    } finally {
      for (const { client } of sessions) client.leave()
      await kill(server)
    }
  }
  t.diagnostic(`${kills} kills; ${repeated} of ${messages} messages came more than once`)
})

test('a kill at the end of a session leaves it done or to be finished', async (t) => {
  const line = await startLine(t)
  const random = createRandom(SEED)
  let server = await line.start()
  const types = ['stop_recording', 'end_recording', 'post_transcript', 'end_session'] as const
  for (const type of types) {
    let killed: Promise<void> | undefined
    let atEnd: Promise<Awaited<ReturnType<typeof jobOf>> | undefined> | undefined
    const { id, audio, expected, client } = await begin(server, random, {
      seconds: 3,
      lostConnections: 0,
      onMessage: (message) => {
        if (message.type === type) killed ??= kill(server)
        // Who is told of the end finds it; if the server is killed before it answers, on the next.
        if (message.type === 'end_session') atEnd = jobOf(server, id).catch(() => undefined)
      },
    })
    while (!killed) await delay(1)
    await killed
    server = await line.start()
    await within(TIMEOUT_MS, client.ended)
    if (atEnd) assert.equal(((await atEnd) ?? (await jobOf(server, id))).status, 'done')
    await untilDone(server, id)
    assertReceived(client, await assertSame(server, { id, audio, expected }))
  }
})

test('clients of a stopping server reconnect without losing data', async (t) => {
  const line = await startLine(t)
  const random = createRandom(SEED)
  let server = await line.start()
  const stops = Promise.withResolvers<void>()
  const session = await begin(server, random, {
    seconds: 20,
    lostConnections: 0,
    onMessage: (_message, count) => {
      if (count === 3) stops.resolve()
    },
  })
  await stops.promise
  server.process.kill('SIGTERM')
  assert.deepEqual(await server.ended, { code: 0, signal: null })
  server = await line.start()
  await within(TIMEOUT_MS, session.client.ended)
  const { id, audio, expected, client } = session
  assert.ok(
    client.closes.some(({ code }) => code === 1012),
    JSON.stringify(client.closes),
  )
  assertReceived(client, await assertSame(server, { id, audio, expected }))
})

test('a session without a client after a restart ends after its timeout', async (t) => {
  const env = { STENO_LIVE_RESUME_WINDOW_S: '1', STENO_LIVE_CONNECT_TIMEOUT_S: '1' }
  const line = await startLine(t, env)
  const first = await line.start()
  const audio = makeLiveAudio(createRandom(SEED), { seconds: 3 })
  const expected = await transcribeUndisturbed(steady, audio, {})
  const { id, url } = await openSession(first, audio.params)
  const client = await connect(url)
  client.send(audio.audio)
  await client.waitForType('audio_chunk')
  const never = await openSession(first)
  await kill(first)

  const server = await line.start()
  await untilDone(server, id)
  const { result } = await jobOf(server, id)
  assert.deepEqual(result!.transcription, expected.transcription)
  while ((await jobOf(server, never.id)).status === 'queued') await delay(50)
  const { status, error_code } = await jobOf(server, never.id)
  assert.deepEqual([status, error_code], ['error', 408])
  for (const ended of [url, never.url]) {
    assert.equal((await (await connect(ended)).closed).code, 4410)
  }
})

/** Starts a server in this process on a folder that is kept. */
async function startOn(folder: string) {
  const config = readConfig({ STENO_DATA_DIR: folder, STENO_API_KEYS: 'test:key' })
  const speech = createFakeSpeechEngine('', { fingerprint: true })
  const app = await createApp(config, { speech, log: createLog('silent') })
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  return { url, key: 'key', close: () => app.close() }
}

/** The address of a session on another server. */
function on({ url }: { url: string }, session: string): string {
  const address = new URL(session)
  address.port = new URL(url).port
  return address.href
}

/** Takes from the files of a session what was written last, as a loss of power does. */
async function losePower(folder: string, random: () => number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const { size } = await stat(path)
    const kept = Math.floor(size * (1 - random() ** 2))
    const isSynced = !name.startsWith('channel')
    if (isSynced ? random() < 0.7 : random() < 0.5) await truncate(path, kept)
    else if (!isSynced) await rm(path)
  }
}

test('after a power loss a session continues with what is on disk', async (t) => {
  const folder = await makeFolder(t)
  for (let round = 0; round < ROUNDS; round++) {
    const random = createRandom(SEED + round)
    const audio = makeLiveAudio(random, { seconds: 8 + 10 * random() })
    const params = randomParams(random)
    const expected = await transcribeUndisturbed(steady, audio, params)
    const first = await startOn(folder)
    const { id, url } = await openSession(first, { ...params, ...audio.params })
    const stream = streamOf(audio)
    const client = await connect(url)
    const sent = Math.floor(stream.length * (0.3 + 0.6 * random()))
    const step = Math.ceil(sent / 40)
    for (let at = 0; at < sent; at += step) {
      client.send(stream.subarray(at, Math.min(sent, at + step)))
    }
    await client.waitForType('audio_chunk', ({ data }) => data?.byte_range[1] === sent)
    await first.close()
    await losePower(join(folder, 'live', id), random)

    const server = await startOn(folder)
    const again = await connect(on(server, url))
    // An empty chunk belongs after all that was kept, and its ack tells where that is.
    again.send(Buffer.alloc(0))
    const stored = (await again.waitForType('audio_chunk')).data!.byte_range[1]
    assert.ok(stored <= sent)
    const rest = stream.subarray(stored)
    for (let at = 0; at < rest.length; at += 2 ** 20) again.send(rest.subarray(at, at + 2 ** 20))
    again.stop()
    assert.equal((await within(TIMEOUT_MS, again.closed)).code, 1000)
    await assertSame(server, { id, audio, expected }).catch((cause: unknown) => {
      throw new Error(`seed ${SEED + round}, ${stored} of ${sent}: ${cause}`, { cause })
    })
    await server.close()
  }
})

test('an oversized frame of a rejected client does not harm the server', async (t) => {
  const server = await (await startLine(t)).start()
  const url = `${server.url.replace('http', 'ws')}/v2/live?token=none`
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  // As a client does that resumes: before it has read that it is not wanted.
  socket.once('open', () => socket.send(Buffer.alloc(2 ** 20 + 1)))
  await once(socket, 'close')
  assert.equal((await call(server, '/health')).status, 200)
})
