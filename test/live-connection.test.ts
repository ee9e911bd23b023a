import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { createFakeSpeechEngine } from '../src/asr/engines/fake.ts'
import { chunksOf, draw } from './draw-sound.ts'
import { call, sendRaw } from './http-client.ts'
import { connect, openSession } from './live-client.ts'
import { ackedRanges, finalsOf, ofType } from './live-messages.ts'
import { startServer, type TestServer } from './start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

type Job = { status: string; error_code: number | null; result: { messages: string[] } | null }

async function jobOf(id: string, of: TestServer = server): Promise<Job> {
  return (await call<Job>(of, `/v2/live/${id}`)).body
}

/** Asks again and again until the job is as expected. */
async function jobThat(id: string, is: (job: Job) => boolean, of = server): Promise<Job> {
  for (;;) {
    const job = await jobOf(id, of)
    if (is(job)) return job
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A server with other settings, for one test. */
async function withServer(
  env: Record<string, string>,
  work: (server: TestServer) => Promise<void>,
): Promise<void> {
  const other = await startServer({ speech: createFakeSpeechEngine('hello'), env })
  try {
    await work(other)
  } finally {
    await other.close()
  }
}

const speech = draw('....##########.....########.....')

test('a session is queued until its client comes, then processing, and cannot be deleted', async () => {
  const { id, url } = await openSession(server)
  assert.equal((await jobOf(id)).status, 'queued')
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 403)
  const client = await connect(url)
  await jobThat(id, ({ status }) => status === 'processing')
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 403)
  assert.equal((await call(server, `/v2/live/${id}/file`)).status, 404)
  client.close(1000)
  await jobThat(id, ({ status }) => status === 'done')
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
  assert.equal((await (await connect(url)).closed).code, 4410)
})

test('a token that nobody has is closed with 4401, also none at all', async () => {
  const base = server.url.replace('http', 'ws')
  for (const query of ['?token=wrong', '', '?token=']) {
    const client = await connect(`${base}/v2/live${query}`)
    assert.equal((await client.closed).code, 4401)
  }
})

test('the socket may be asked for with a slash behind its path', async () => {
  const { url } = await openSession(server)
  const client = await connect(url.replace('/live?', '/live/?'))
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('a session that has ended is closed with 4410, and soon not known any more', async () => {
  await withServer({ STENO_LIVE_TOKEN_GRACE_S: '0' }, async (other) => {
    const { url } = await openSession(other)
    const client = await connect(url)
    client.stop()
    await client.closed
    let code = 4410
    while (code === 4410) code = (await (await connect(url)).closed).code
    assert.equal(code, 4401)
  })
  const { url } = await openSession(server)
  const client = await connect(url)
  client.stop()
  await client.closed
  assert.equal((await (await connect(url)).closed).code, 4410)
})

test('a newer connection takes the place of the older, which is closed with 4409', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech.subarray(0, 32_000))
  await first.waitForType('audio_chunk')
  const second = await connect(url)
  assert.equal((await first.closed).code, 4409)
  second.send(speech.subarray(32_000))
  second.stop()
  assert.equal((await second.closed).code, 1000)
  assert.deepEqual(ackedRanges(second.messages), [[32_000, speech.length]])
  assert.equal((await jobOf(id)).status, 'done')
})

test('what was missed comes after a reconnection, in order and before what is new', async () => {
  const { url } = await openSession(server, { messages_config: { receive_lifecycle_events: true } })
  const first = await connect(url)
  first.send(speech.subarray(0, 9600))
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.send(speech.subarray(9600))
  second.stop()
  await second.closed
  const all = [...first.messages, ...second.messages]
  assert.equal(ofType(all, 'start_recording').length, 1)
  assert.deepEqual(
    finalsOf(all).map(({ data }) => data.id),
    ['00_00000000', '00_00000001'],
  )
  assert.deepEqual(ackedRanges(all), [
    [0, 9600],
    [9600, speech.length],
  ])
})

test('messages wait for a client that is away while its sound is heard', async () => {
  const held = Promise.withResolvers<void>()
  const fake = createFakeSpeechEngine('hello', {
    onLive: (kind) => (kind === 'final' ? held.promise : undefined),
  })
  const other = await startServer({ speech: fake })
  try {
    const { url } = await openSession(other)
    const first = await connect(url)
    first.send(speech)
    await first.waitForType('speech_end')
    first.terminate()
    await first.closed
    held.resolve()
    const second = await connect(url)
    await second.waitForType('transcript', ({ data }) => data.id === '00_00000000')
    second.stop()
    await second.closed
    assert.deepEqual(
      finalsOf(second.messages).map(({ data }) => data.id),
      ['00_00000000', '00_00000001'],
    )
  } finally {
    await other.close()
  }
})

test('messages that a client did not confirm come again after its connection was cut', async () => {
  const { url } = await openSession(server)
  const first = await connect(url, { autoPong: false })
  first.send(speech)
  await first.waitForType('transcript', ({ data }) => data.id === '00_00000001')
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.stop()
  await second.closed
  assert.equal(finalsOf(second.messages).length, 2)
})

test('messages that a client confirmed do not come again', async () => {
  const { url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('transcript', ({ data }) => data.id === '00_00000001')
  // Answered after the pong that the last message asked for.
  const answered = new Promise((resolve) => first.socket.once('pong', resolve))
  first.socket.ping()
  await answered
  first.socket.ping()
  await new Promise((resolve) => first.socket.once('pong', resolve))
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.stop()
  await second.closed
  assert.deepEqual(finalsOf(second.messages), [])
})

test('a client that tells its place goes on there: what is known is skipped', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech.subarray(0, 32_000))
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url, { offset: 16_000 })
  second.send(speech.subarray(16_000))
  second.stop()
  await second.closed
  assert.deepEqual(ackedRanges(second.messages), [[16_000, speech.length]])
  const headers = { 'x-service-key': server.key }
  const file = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  assert.deepEqual(Buffer.from(await file.arrayBuffer()).subarray(44), speech)
})

test('a place that does not exist yet, or is none, is closed with 4400', async () => {
  const { url } = await openSession(server)
  assert.equal((await (await connect(url, { offset: 1 })).closed).code, 4400)
  assert.equal((await (await connect(`${url}&offset=-1`)).closed).code, 4400)
  const client = await connect(url, { offset: 0 })
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('a frame of a mebibyte is taken, and one byte more ends the connection with 1009', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(Buffer.alloc(1_048_576))
  await client.waitForType('audio_chunk')
  client.send(Buffer.alloc(1_048_577))
  assert.equal((await client.closed).code, 1009)
  assert.equal((await jobOf(id)).status, 'processing')
  const again = await connect(url)
  again.stop()
  await again.closed
})

test('the first frame of a resumed connection may be larger, the second not', async () => {
  const { url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url)
  const large = Buffer.alloc(3_000_000, 1)
  second.sendBase64(large)
  const { data } = await second.waitForType('audio_chunk')
  assert.deepEqual(data?.byte_range, [speech.length, speech.length + large.length])
  second.sendBase64(large)
  assert.equal((await second.closed).code, 1009)
})

test('a client that closes with 1000 ends the session, any other close does not', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('audio_chunk')
  first.close(1001)
  await first.closed
  const second = await connect(url)
  assert.equal((await jobOf(id)).status, 'processing')
  second.close(1000)
  const { result } = await jobThat(id, ({ status }) => status === 'done')
  const types = result!.messages.map((text) => JSON.parse(text).type)
  assert.ok(types.includes('post_final_transcript'))
})

test('a client that leaves right behind its stop gets its result all the same', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(speech)
  client.stop()
  client.close(1001)
  await client.closed
  await jobThat(id, ({ status }) => status === 'done')
})

test('a session whose client does not come back ends as after a stop', async () => {
  await withServer({ STENO_LIVE_RESUME_WINDOW_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    client.send(speech)
    await client.waitForType('audio_chunk')
    client.terminate()
    const { result } = await jobThat(id, ({ status }) => status === 'done', other)
    assert.ok(result)
  })
})

test('a session nobody connects to fails with 408', async () => {
  await withServer({ STENO_LIVE_CONNECT_TIMEOUT_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const { error_code } = await jobThat(id, ({ status }) => status === 'error', other)
    assert.equal(error_code, 408)
    assert.equal((await (await connect(url)).closed).code, 4410)
  })
})

test('a session that is too long is told, ends as after a stop, and is closed with 4408', async () => {
  await withServer({ STENO_LIVE_MAX_S: '2' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    for (const chunk of chunksOf(draw('#'.repeat(25)), 3200)) client.send(chunk)
    assert.equal((await client.closed).code, 4408)
    assert.equal(ofType(client.messages, 'error')[0]?.data.code, 'session_timeout')
    assert.equal(ofType(client.messages, 'post_final_transcript').length, 1)
    assert.equal((await jobOf(id, other)).status, 'done')
    const byClock = await connect((await openSession(other)).url)
    assert.equal((await byClock.closed).code, 4408)
  })
})

test('a session in which nothing comes ends after the idle time, if there is one', async () => {
  await withServer({ STENO_LIVE_IDLE_TIMEOUT_S: '1' }, async (other) => {
    const { id, url } = await openSession(other)
    const client = await connect(url)
    assert.equal((await client.closed).code, 1000)
    assert.equal((await jobOf(id, other)).status, 'done')
  })
})

test('an account has so many sessions at a time, and the machine too', async () => {
  await withServer({ STENO_MAX_LIVE_SESSIONS: '2', STENO_LIVE_SLOTS: '3' }, async (other) => {
    const post = (key: string) => {
      return call(other, '/v2/live', { json: {}, headers: { 'x-service-key': key } })
    }
    assert.equal((await post(other.key)).status, 201)
    assert.equal((await post(other.key)).status, 201)
    const many = await post(other.key)
    assert.equal(many.status, 429)
    assert.ok(Number(many.headers.get('retry-after')) >= 1)
    assert.equal((await post('other-key')).status, 201)
    const full = await post('other-key')
    assert.equal(full.status, 503)
    assert.ok(Number(full.headers.get('retry-after')) >= 1)
  })
})

test('measured room counts only sessions whose client came', async () => {
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

test('a server that stops tells its clients to come again', async () => {
  const other = await startServer({ speech: createFakeSpeechEngine('hello') })
  const { url } = await openSession(other)
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  const closing = other.close()
  assert.equal((await client.closed).code, 1012)
  await closing
})

test('a list is a list though the client would upgrade to something else', async () => {
  const answer = await sendRaw(
    server,
    `GET /v2/live?limit=1 HTTP/1.1\r\nhost: x\r\nx-service-key: ${server.key}\r\n` +
      'connection: upgrade, close\r\nupgrade: h2c\r\n\r\n',
  )
  assert.match(answer, /^HTTP\/1\.1 200 /)
})

test('an upgrade that is no WebSocket handshake is refused, and holds up no session', async () => {
  const { url } = await openSession(server)
  const { pathname, search } = new URL(url)
  const answer = await sendRaw(
    server,
    `GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 400 /)
  const client = await connect(url)
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('a client that is too far ahead is not read until it was caught up with', async () => {
  const release = Promise.withResolvers<void>()
  const speechEngine = createFakeSpeechEngine('hello', { onLive: () => release.promise })
  const env = { STENO_LIVE_MAX_BACKLOG_S: '2' }
  const other = await startServer({ speech: speechEngine, env })
  try {
    const { url } = await openSession(other)
    const client = await connect(url)
    const chunks = chunksOf(draw('#'.repeat(400)), 32_000)
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

test('a creation that is repeated at the same time takes one place', async () => {
  await withServer({ STENO_LIVE_SLOTS: '1' }, async (other) => {
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all(
      [1, 2, 3].map(() => call(other, '/v2/live', { json: {}, headers })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
    )
    assert.equal(new Set(answers.map(({ body }) => body.url)).size, 1)
  })
})

test('no subprotocol is agreed on, whatever a client offers', async () => {
  const { url } = await openSession(server)
  const socket = new WebSocket(url, ['token', 'other'])
  const [protocol] = await new Promise<string[]>((resolve) => {
    socket.on('upgrade', ({ headers }) => resolve([String(headers['sec-websocket-protocol'])]))
    socket.on('error', () => {}) // A client may insist on what it offered.
  })
  assert.equal(protocol, 'undefined')
  socket.terminate()
})

test('a client that has to wait because the server is behind is not taken for idle', async () => {
  const release = Promise.withResolvers<void>()
  const speechEngine = createFakeSpeechEngine('hello', { onLive: () => release.promise })
  const limits = { STENO_LIVE_MAX_BACKLOG_S: '1', STENO_LIVE_IDLE_TIMEOUT_S: '1' }
  const env = { ...limits, STENO_LIVE_CONNECT_TIMEOUT_S: '2' }
  const other = await startServer({ speech: speechEngine, env })
  try {
    const client = await connect((await openSession(other)).url)
    client.send(draw('#'.repeat(20)))
    await client.waitForType('audio_chunk')
    // A session that nobody connects to is the clock: it ends long after the idle time.
    const { id } = await openSession(other)
    await jobThat(id, ({ status }) => status === 'error', other)
    release.resolve()
    client.stop()
    const { acknowledged } = await client.waitForType('stop_recording')
    assert.equal(acknowledged, true)
  } finally {
    release.resolve()
    await other.close()
  }
})
