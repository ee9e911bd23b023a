import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { wavHeader } from '../../../src/audio/containers/wav-header.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { ofType } from '../../support/live/clients/live-messages.ts'
import {
  jobOf,
  speech,
  waitForJob,
  withServer,
} from '../../support/live/sessions/live-session-jobs.ts'
import { call, type ErrorBody, sendRaw } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

test('a session is queued until its client connects, and cannot be deleted then', async () => {
  const { id, url } = await openSession(server)
  assert.equal((await jobOf(id, server)).status, 'queued')
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 403)
  const client = await connect(url)
  await waitForJob(id, ({ status }) => status === 'processing', server)
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 403)
  const file = await call<ErrorBody>(server, `/v2/live/${id}/file`)
  const message = 'Cannot find the file: the session has not ended'
  assert.deepEqual([file.status, file.body.message], [404, message])
  client.close(1000)
  await waitForJob(id, ({ status }) => status === 'done', server)
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
  assert.equal((await (await connect(url)).closed).code, 4410)
})

test('an unknown or missing token is closed with 4401', async () => {
  const base = server.url.replace('http', 'ws')
  for (const query of ['?token=wrong', '', '?token=']) {
    const client = await connect(`${base}/v2/live${query}`)
    assert.equal((await client.closed).code, 4401)
  }
})

test('the socket path accepts a trailing slash, and the slash of a base URL', async () => {
  for (const path of ['/v2/live/?', '//v2/live?']) {
    const { url } = await openSession(server)
    const client = await connect(url.replace('/v2/live?', path))
    client.stop()
    assert.equal((await client.closed).code, 1000)
  }
})

test('an ended session is closed with 4410, and later its token is unknown', async () => {
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

test('a header that contradicts the session is refused and closes with 4400', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  client.send(wavHeader({ encoding: 's16', sampleRate: 8000, channels: 1 }, 0))
  assert.equal((await client.closed).code, 4400)
  const [refused] = ofType(client.messages, 'audio_chunk')
  assert.equal(refused?.acknowledged, false)
  assert.equal(refused?.error?.exception, 'InvalidChunk')
  assert.equal(refused?.data, null)
})

test('closing with 1000 ends the session, any other code does not', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('audio_chunk')
  first.close(1001)
  await first.closed
  const second = await connect(url)
  assert.equal((await jobOf(id, server)).status, 'processing')
  second.close(1000)
  const { result } = await waitForJob(id, ({ status }) => status === 'done', server)
  const types = result!.messages.map((text) => JSON.parse(text).type)
  assert.ok(types.includes('post_final_transcript'))
})

test('a client that disconnects right after its stop still gets a result', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(speech)
  client.stop()
  client.close(1001)
  await client.closed
  await waitForJob(id, ({ status }) => status === 'done', server)
})

test('a stopping server closes its clients with 1012', async () => {
  const other = await startServer({ speech: createFakeSpeechEngine('hello') })
  const { url } = await openSession(other)
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  const closing = other.close()
  assert.equal((await client.closed).code, 1012)
  await closing
})

test('a list is served despite an offered upgrade', async () => {
  const response = await sendRaw(
    server,
    `GET /v2/live?limit=1 HTTP/1.1\r\nhost: x\r\nx-service-key: ${server.key}\r\n` +
      'connection: upgrade, close\r\nupgrade: h2c\r\n\r\n',
  )
  assert.match(response, /^HTTP\/1\.1 200 /)
})

test('an upgrade without a WebSocket handshake is rejected and takes over no session', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  const { pathname, search } = new URL(url)
  const head = `GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n`
  const wrong = 'sec-websocket-version: 7\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  for (const rest of ['', wrong]) {
    const response = await sendRaw(server, `${head}${rest}\r\n`)
    assert.match(response, /^HTTP\/1\.1 400 .*\r\nx-request-id: \S+\r\n.*"statusCode":400/s)
    assert.match(response, /"path":"\/v2\/live"/)
  }
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('the response to a handshake names its request', async () => {
  const key = 'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  const upgrade = `host: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key}\r\n`
  // A frame without a mask ends the connection.
  for (const [path, status] of [
    ['/v2/live?token=unknown', 101],
    ['/v1/realtime?intent=transcription', 401],
  ] as const) {
    const head = `GET ${path} HTTP/1.1\r\n${upgrade}`
    const response = await sendRaw(server, `${head}\x08\x00`)
    assert.match(
      response,
      new RegExp(`^HTTP/1.1 ${status} .*\r\nx-request-id: G-[\\da-f]{8}\r\n`, 's'),
    )
  }
})

test('a session is created despite an offered upgrade', async () => {
  const response = await sendRaw(
    server,
    `POST /v2/live HTTP/1.1\r\nhost: x\r\nx-service-key: ${server.key}\r\ncontent-type: application/json\r\n` +
      'content-length: 2\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n{}',
  )
  assert.match(response, /^HTTP\/1\.1 201 /)
})

test('no subprotocol is selected', async () => {
  const { url } = await openSession(server)
  const socket = new WebSocket(url, ['token', 'other'])
  const [protocol] = await new Promise<string[]>((resolve) => {
    socket.on('upgrade', ({ headers }) => resolve([String(headers['sec-websocket-protocol'])]))
    socket.on('error', () => {}) // A client may insist on what it offered.
  })
  assert.equal(protocol, 'undefined')
  socket.terminate()
})
