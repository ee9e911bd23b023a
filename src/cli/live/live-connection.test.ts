import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { LiveConnection } from './live-connection.ts'

type Frame = { bytes: Buffer; isBinary: boolean }

/**
 * Starts a server that a test controls; `frames(n)` waits until a connection has sent `n` of them.
 */
async function startToy(t: TestContext) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  async function next() {
    const [socket, request] = (await once(server, 'connection')) as [WebSocket, { url: string }]
    const received: Frame[] = []
    socket.on('message', (bytes: Buffer, isBinary) => void received.push({ bytes, isBinary }))
    async function frames(count: number): Promise<string[]> {
      while (received.length < count) await once(socket, 'message')
      return received.map(({ bytes }) => String(bytes))
    }
    function ack(end: number): void {
      const data = { byte_range: [0, end] }
      socket.send(JSON.stringify({ type: 'audio_chunk', acknowledged: true, error: null, data }))
    }
    return { socket, query: new URL(request.url, 'http://localhost').searchParams, frames, ack }
  }
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/?token=x`, next }
}

const STOP = '{"type":"stop_recording"}'

test('a session without an address of its socket is refused', () => {
  const events = { onMessage() {}, onLost() {} }
  for (const url of [undefined as unknown as string, '/v2/live', 'http://127.0.0.1:1/']) {
    assert.throws(() => LiveConnection.connect(url, events), /does not say where the session is/)
  }
})

test('a new connection resumes at the first byte that was not acknowledged', async (t) => {
  const toy = await startToy(t)
  const lost: number[] = []
  const { promise: acked, resolve: onMessage } = Promise.withResolvers<unknown>()
  const coming = toy.next()
  const live = LiveConnection.connect(toy.url, {
    onMessage,
    onLost: (code) => void lost.push(code),
  })
  const first = await coming
  for (const text of ['abc', 'def', 'ghi']) await live.send(Buffer.from(text))
  await first.frames(3)
  first.ack(4)
  await acked
  const again = toy.next()
  first.socket.close(1012)
  live.stop()
  const second = await again
  assert.deepEqual(await second.frames(3), ['ef', 'ghi', STOP])
  assert.deepEqual([first.query.get('offset'), second.query.get('offset')], [null, '4'])
  assert.equal(second.query.get('token'), 'x')
  second.socket.close(1000, 'done')
  assert.deepEqual(await live.ended, { code: 1000, reason: 'done' })
  assert.deepEqual(lost, [1012])
})

test('an acknowledged stop is not sent again', async (t) => {
  const toy = await startToy(t)
  const { promise: stopped, resolve: onMessage } = Promise.withResolvers<unknown>()
  const coming = toy.next()
  const live = LiveConnection.connect(toy.url, { onMessage, onLost() {} })
  const first = await coming
  live.stop()
  await first.frames(1)
  first.socket.send(JSON.stringify({ type: 'stop_recording', acknowledged: true, data: {} }))
  await stopped
  const again = toy.next()
  first.socket.terminate()
  const second = await again
  await live.send(Buffer.from('x'))
  assert.deepEqual(await second.frames(1), ['x'])
  second.socket.close(4410)
  assert.equal((await live.ended).code, 4410)
})

test('sending waits while too much audio is not acknowledged', async (t) => {
  const toy = await startToy(t)
  const coming = toy.next()
  const live = LiveConnection.connect(toy.url, { onMessage() {}, onLost() {} })
  const server = await coming
  const megabyte = Buffer.alloc(2 ** 20)
  for (let i = 0; i < 7; i++) await live.send(megabyte)
  let hasSpace = false
  const eighth = live.send(megabyte).then(() => {
    hasSpace = true
  })
  await server.frames(16)
  assert.equal(hasSpace, false)
  server.ack(1)
  await eighth
  live.close()
  assert.equal((await live.ended).code, 1000)
})

test('close codes that end the session prevent a reconnect', async (t) => {
  const toy = await startToy(t)
  for (const code of [4401, 4408, 4409, 4500]) {
    const coming = toy.next()
    const live = LiveConnection.connect(toy.url, {
      onMessage() {},
      onLost: () => assert.fail('came back'),
    })
    const { socket } = await coming
    socket.close(code)
    assert.equal((await live.ended).code, code)
  }
})

test('a text that is no message of a Steno server ends the session', async (t) => {
  const toy = await startToy(t)
  for (const text of ['<h1>Bad gateway</h1>', 'null', '{"status":502}']) {
    const coming = toy.next()
    const live = LiveConnection.connect(toy.url, { onMessage() {}, onLost: () => assert.fail() })
    const { socket } = await coming
    socket.send(text)
    const [code] = await once(socket, 'close')
    assert.deepEqual([code, await live.ended], [1007, { code: 1007, reason: '' }])
  }
})
