import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { chunksOf, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { ackedRanges, ofType } from '../../support/live/clients/live-messages.ts'
import {
  jobOf,
  speech,
  waitForJob,
  withServer,
} from '../../support/live/sessions/live-session-jobs.ts'
import { call } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'
import { fakeTimeouts } from '../../support/workers/fake-timeouts.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

test('a frame of one mebibyte is accepted, one byte more closes with 1009', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(Buffer.alloc(1_048_576))
  await client.waitForType('audio_chunk')
  client.send(Buffer.alloc(1_048_577))
  const { code, reason } = await client.closed
  assert.deepEqual([code, reason], [1009, 'frame too large: send smaller ones'])
  assert.equal((await jobOf(id, server)).status, 'processing')
  const again = await connect(url)
  again.stop()
  await again.closed
})

test('a session whose client does not return ends like after a stop', async () => {
  await withServer({ STENO_LIVE_RESUME_WINDOW_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    client.send(speech)
    await client.waitForType('audio_chunk')
    client.terminate()
    const { result } = await waitForJob(id, ({ status }) => status === 'done', other)
    assert.ok(result)
  })
})

test('a session without a client fails with 408', async () => {
  await withServer({ STENO_LIVE_CONNECT_TIMEOUT_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const job = await waitForJob(id, ({ status }) => status === 'error', other)
    assert.equal(job.error_code, 408)
    assert.match(JSON.stringify(job), /none came within 1 s \(STENO_LIVE_CONNECT_TIMEOUT_S\)/)
    assert.equal((await (await connect(url)).closed).code, 4410)
  })
})

test('a session that is too long gets an error and is closed with 4408', async () => {
  await withServer({ STENO_LIVE_MAX_S: '2' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    for (const chunk of chunksOf(synthesizeAudio('#'.repeat(25)), 3200)) client.send(chunk)
    assert.equal((await client.closed).code, 4408)
    const [{ data } = assert.fail()] = ofType(client.messages, 'error')
    const message = 'the session is longer than 2 s (STENO_LIVE_MAX_S)'
    assert.deepEqual(data, { code: 'session_timeout', message })
    assert.equal(ofType(client.messages, 'post_final_transcript').length, 1)
    assert.equal((await jobOf(id, other)).status, 'done')
    const byClock = await connect((await openSession(other)).url)
    assert.equal((await byClock.closed).code, 4408)
  })
})

test('a session without data ends after the idle timeout', async () => {
  await withServer({ STENO_LIVE_IDLE_TIMEOUT_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    assert.equal((await client.closed).code, 1000)
    assert.equal((await jobOf(id, other)).status, 'done')
  })
})

test('concurrent sessions are limited per account and machine', async () => {
  await withServer({ STENO_MAX_LIVE_SESSIONS: '2', STENO_LIVE_SLOTS: '3' }, async (other) => {
    const post = (key: string) => {
      return call(other, '/v2/live', { json: {}, headers: { 'x-service-key': key } })
    }
    const enter = async (key: string) => connect((await openSession({ ...other, key })).url)
    await enter(other.key)
    await enter(other.key)
    const many = await post(other.key)
    assert.equal(many.status, 429)
    assert.ok(Number(many.headers.get('retry-after')) >= 1)
    await enter(OTHER_KEY)
    const full = await post(OTHER_KEY)
    assert.equal(full.status, 503)
    assert.ok(Number(full.headers.get('retry-after')) >= 1)
    assert.match(String(full.body.message), /STENO_LIVE_SLOTS/)
  })
})

test('an ended session frees its slot when its client is notified', async () => {
  await withServer({ STENO_LIVE_SLOTS: '1' }, async (other) => {
    for (let i = 0; i < 10; i++) {
      const client = await connect((await openSession(other)).url)
      client.send(speech)
      client.stop()
      assert.equal((await client.closed).code, 1000)
      assert.equal((await call(other, '/v2/live', { json: {} })).status, 201, `session ${i}`)
    }
  })
})

test('an account may use its share of the slots and leaves the rest to others', async () => {
  await withServer({ STENO_LIVE_SLOTS: '4' }, async (other) => {
    for (let i = 0; i < 2; i++) await connect((await openSession(other)).url)
    const more = await call(other, '/v2/live', { json: {} })
    assert.equal(more.status, 429)
    assert.match(String(more.body.message), /share/)
    for (let i = 0; i < 2; i++) {
      await connect((await openSession({ ...other, key: OTHER_KEY })).url)
    }
  })
})

test('created sessions without a connection use no slot', async () => {
  await withServer({ STENO_LIVE_SLOTS: '2' }, async (other) => {
    const opened = []
    for (let i = 0; i < 5; i++) opened.push(await openSession(other))
    await connect(opened[0]!.url)
    // Beyond the share of the account it is told to come again later.
    const refused = await (await connect(opened[1]!.url)).closed
    assert.deepEqual([refused.code, /overloaded/.test(refused.reason)], [1013, true])
    await connect((await openSession({ ...other, key: OTHER_KEY })).url)
  })
})

test('capacity counts only connected sessions', async () => {
  const speechEngine = createFakeSpeechEngine('hello', { capacity: 1 })
  const other = await startServer({ speech: speechEngine })
  try {
    const { url } = await openSession(other)
    await openSession(other)
    const client = await connect(url)
    assert.equal((await call(other, '/v2/live', { json: {} })).status, 503)
    client.stop()
    await client.closed
    for (let status = 503; status !== 201; ) {
      status = (await call(other, '/v2/live', { json: {} })).status
    }
  } finally {
    await other.close()
  }
})

test('a client too far ahead is paused until the server catches up', async () => {
  const release = Promise.withResolvers<void>()
  const speechEngine = createFakeSpeechEngine('hello', { onLive: () => release.promise })
  const env = { STENO_LIVE_MAX_BACKLOG_S: '2' }
  const other = await startServer({ speech: speechEngine, env })
  try {
    const { url } = await openSession(other)
    const client = await connect(url)
    const chunks = chunksOf(synthesizeAudio('#'.repeat(400)), 32_000)
    for (const chunk of chunks) client.send(chunk)
    await client.until(() => ackedRanges(client.messages).length >= 3)
    const ponged = new Promise((resolve) => client.socket.once('pong', resolve))
    let isRead = false
    void ponged.then(() => {
      isRead = true
    })
    client.socket.ping()
    for (let i = 0; i < 5; i++) await call(other, '/v2/live?limit=1')
    assert.equal(isRead, false)
    // What the socket had read already is taken.
    assert.ok(ackedRanges(client.messages).length < 20)
    release.resolve()
    await ponged
    client.stop()
    await client.closed
    assert.equal(ackedRanges(client.messages).at(-1)![1], 1_280_000)
  } finally {
    release.resolve()
    await other.close()
  }
})

test('concurrent repeated creations use one slot', async () => {
  await withServer({ STENO_LIVE_SLOTS: '1' }, async (other) => {
    const headers = { 'idempotency-key': 'once' }
    const responses = await Promise.all(
      [1, 2, 3].map(() => call(other, '/v2/live', { json: {}, headers })),
    )
    assert.deepEqual(
      responses.map(({ status }) => status),
      [201, 201, 201],
    )
    assert.equal(new Set(responses.map(({ body }) => body.url)).size, 1)
  })
})

test('a client paused by the server is not considered idle', async (t) => {
  const idle = fakeTimeouts(t, 654_000)
  const release = Promise.withResolvers<void>()
  const speechEngine = createFakeSpeechEngine('hello', { onLive: () => release.promise })
  const env = { STENO_LIVE_MAX_BACKLOG_S: '1', STENO_LIVE_IDLE_TIMEOUT_S: '654' }
  const other = await startServer({ speech: speechEngine, env })
  try {
    const client = await connect((await openSession(other)).url)
    client.send(synthesizeAudio('#'.repeat(20)))
    await client.waitForType('audio_chunk')
    idle.pass()
    release.resolve()
    client.stop()
    const { acknowledged } = await client.waitForType('stop_recording')
    assert.equal(acknowledged, true)
  } finally {
    release.resolve()
    await other.close()
  }
})
