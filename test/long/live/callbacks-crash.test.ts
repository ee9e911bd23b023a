// The messages of a session reach its callback, however the session or its server ends.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApp } from '../../../src/app/app.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { readConfig } from '../../../src/config/config.ts'
import { formatLogRecord } from '../../../src/live/journal/log-records.ts'
import { createLog } from '../../../src/observability/log.ts'
import { liveFolder } from '../../../src/storage/data-folder/data-folder.ts'
import { createDiskSessionStore } from '../../../src/storage/live/disk-session-store.ts'
import { beginLiveJob } from '../../../src/storage/live/live-jobs.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { openReceiver, type Received, type Receiver } from '../../support/delivery/receiver.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { startReconnectingClient } from '../../support/live/clients/reconnecting-client.ts'
import { makeLiveAudio, streamOf } from '../../support/live/live-audio.ts'
import { randomClient, randomParams, within } from '../../support/live/random-client.ts'
import { allFlags as all } from '../../support/live/sessions/live-flags.ts'
import { freePort } from '../../support/net/free-port.ts'
import { call } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const ROUNDS = rounds(1)
const SESSIONS = 2
const KILLS = 3
const TIMEOUT_MS = 60_000

type Server = { url: string; key: string }
type Job = { status: string; result: { messages: string[] } | null }

async function jobOf(server: Server, id: string): Promise<Job> {
  return (await call<Job>(server, `/v2/live/${id}`)).body
}

function callingAt(url: string) {
  return { callback: true, callback_config: { url, ...all } }
}

/** Returns the events in the order of their first delivery, without repetitions. */
function firstOf(received: readonly Received[]): string[] {
  const bodies = new Map<unknown, string>()
  for (const { headers, body } of received) {
    const id = headers['webhook-id']
    assert.equal(bodies.get(id) ?? body, body, 'a repeated delivery is the same')
    if (!bodies.has(id)) bodies.set(id, body)
  }
  return [...bodies.values()]
}

function payloadsOf(bodies: readonly string[], { id }: { id: string }): string[] {
  return bodies.map((body) => {
    const { type } = (JSON.parse(body) as { payload: { type: string } }).payload
    const head = `{"id":"${id}","event":"live.${type}","payload":`
    assert.ok(body.startsWith(head))
    return body.slice(head.length, -1)
  })
}

async function openTestReceiver(t: TestContext, isHealthy: () => boolean): Promise<Receiver> {
  const receiver = await openReceiver(() => (isHealthy() ? 204 : 500))
  t.after(() => receiver.close())
  return receiver
}

test('after each kill the next server sends all callbacks in order', async (t) => {
  let kills = 0
  for (let round = 0; round < ROUNDS; round++) {
    const random = createRandom(SEED + round)
    const receiver = await openTestReceiver(t, () => random() < 0.97)
    const folder = await makeFolder(t)
    const env = {
      STENO_PORT: await freePort(),
      STENO_MAX_LIVE_SESSIONS: '1000',
      STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
      FAKE_RETRY_MS: '5',
    }
    const start = async () => (await startChild(t, folder, { env }))!
    let server: ChildServer = await start()
    const sessions = []
    for (let i = 0; i < SESSIONS; i++) {
      const audio = makeLiveAudio(random, { seconds: 4 + 15 * random() })
      const params = { ...randomParams(random), ...audio.params }
      const path = `/${i}`
      const requested = { ...params, ...callingAt(receiver.url + path) }
      const { id, url } = await openSession(server, requested)
      const stream = streamOf(audio)
      const client = startReconnectingClient({
        url,
        stream,
        random,
        ...randomClient(random, audio),
      })
      sessions.push({ id, path, client })
    }
    try {
      for (let i = 0; i < KILLS; i++) {
        // Each kill comes at another point of the work.
        const enough = receiver.received.length + Math.ceil(100 ** random())
        const isOver = await until(async () => receiver.received.length >= enough, 300)
        if (!isOver && random() < 0.5) await delay(100 * random())
        await kill(server)
        kills++
        server = await start()
      }
      await within(TIMEOUT_MS, Promise.all(sessions.map(({ client }) => client.ended)))
      for (const { id, path } of sessions) {
        await within(
          TIMEOUT_MS,
          until(async () => (await jobOf(server, id)).status === 'done'),
        )
        const { messages } = (await jobOf(server, id)).result!
        await within(
          TIMEOUT_MS,
          until(async () => firstOf(receiver.at(path)).length >= messages.length),
        )
        assert.deepEqual(payloadsOf(firstOf(receiver.at(path)), { id }), messages)
      }
    } catch (cause) {
      throw new Error(`seed ${SEED + round}: ${cause}`, { cause })
    } finally {
      for (const { client } of sessions) client.leave()
      await kill(server)
    }
  }
  t.diagnostic(`${kills} kills`)
})

/** Waits until a condition holds; returns false after the timeout. */
async function until(holds: () => Promise<boolean>, timeoutMs = TIMEOUT_MS): Promise<boolean> {
  const end = performance.now() + timeoutMs
  while (performance.now() < end) {
    if (await holds()) return true
    await delay(10)
  }
  return false
}

/** Starts a server in this process on a folder that is kept. */
async function startOn(t: TestContext, folder: string, speech: SpeechEngine) {
  const config = readConfig({
    STENO_DATA_DIR: folder,
    STENO_API_KEYS: 'test:key',
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    ...(!speech.live && { STENO_LIVE_SLOTS: '0' }),
  })
  const app = await createApp(config, { speech, log: createLog('silent') })
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= app.close())
  t.after(close)
  return { url, key: 'key', app, close }
}

const speech = synthesizeAudio('..####......')

function typesOf(bodies: readonly string[]): string[] {
  return bodies.map((body) => (JSON.parse(body) as { payload: { type: string } }).payload.type)
}

test('callbacks that cannot be queued do not delay sessions, and are queued later', async (t) => {
  const receiver = await openTestReceiver(t, () => true)
  const folder = await makeFolder(t)
  const engine = createFakeSpeechEngine('hello')
  const first = await startOn(t, folder, engine)
  const { id, url } = await openSession(first, callingAt(`${receiver.url}/late`))
  const { db } = first.app.storage
  await sql`create trigger full_disk before insert on deliveries
    begin select raise(abort, 'disk full'); end`.execute(db.sql)
  const client = await connect(url)
  client.send(Buffer.alloc(0))
  await client.waitForType('audio_chunk')
  await first.app.live.drain()
  await sql`drop trigger full_disk`.execute(db.sql)
  await first.close()
  const isSent = async () => typesOf(firstOf(receiver.received)).includes('audio_chunk')
  assert.ok(!(await isSent()))
  const server = await startOn(t, folder, engine)
  assert.ok(await until(isSent, 10_000))
  assert.equal(
    (await jobOf(server, id)).status,
    'processing',
    'the session still waits for its client',
  )
})

test('a session killed at its start still sends its creation', async (t) => {
  const receiver = await openTestReceiver(t, () => true)
  const folder = await makeFolder(t)
  const first = await startOn(t, folder, createFakeSpeechEngine('hello'))
  const { id, url } = await openSession(first, callingAt(`${receiver.url}/begun`))
  await beginLiveJob(first.app.storage.db, id, { owner: 'killed', at: Date.now() })
  await first.close()
  const files = await createDiskSessionStore(join(liveFolder(folder), id))
  await files.write(undefined, [formatLogRecord({ kind: 'begin', at: Date.now() })])
  await files.close()

  const server = await startOn(t, folder, createFakeSpeechEngine('hello'))
  const client = await connect(url.replace(new URL(url).host, new URL(server.url).host))
  client.stop()
  await client.closed
  await server.app.delivery.idle()
  const { messages } = (await jobOf(server, id)).result!
  const types = messages.map((text) => (JSON.parse(text) as { type: string }).type)
  assert.deepEqual(types.slice(0, 2), ['start_session', 'start_recording'])
  assert.deepEqual(payloadsOf(firstOf(receiver.received), { id }), messages)
})

test('a callback gets the messages of a failed session', async (t) => {
  const receiver = await openTestReceiver(t, () => true)
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  const engine = createFakeSpeechEngine('hello', { onLive: () => lost.promise })
  const server = await startOn(t, await makeFolder(t), engine)
  const { url } = await openSession(server, callingAt(`${receiver.url}/failed`))
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  lost.reject(new Error('lost'))
  assert.equal((await client.closed).code, 4500)
  await server.app.delivery.idle()
  assert.deepEqual(typesOf(firstOf(receiver.received)), [
    ...['start_session', 'start_recording', 'audio_chunk', 'error', 'end_session'],
  ])
})

test('a callback gets messages of a session whose next server has no live engine', async (t) => {
  const receiver = await openTestReceiver(t, () => true)
  const folder = await makeFolder(t)
  const first = await startOn(t, folder, createFakeSpeechEngine('hello'))
  const { id, url } = await openSession(first, callingAt(`${receiver.url}/no-engine`))
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  await first.close()
  const reported = new Set(client.messages.map(({ type }) => type))
  const server = await startOn(t, folder, { ...createFakeSpeechEngine(''), live: undefined })
  assert.ok(await until(async () => (await jobOf(server, id)).status === 'error'))
  await server.app.delivery.idle()
  const types = typesOf(firstOf(receiver.received))
  assert.deepEqual(types.slice(0, 3), ['start_session', 'start_recording', 'audio_chunk'])
  for (const type of reported) assert.ok(types.includes(type), type)
})
