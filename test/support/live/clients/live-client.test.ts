import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { startProxy } from '../../net/cutting-proxy.ts'
import { createRandom } from '../../random/random.ts'
import { connect } from './live-client.ts'
import { connectSdkLike, connectSingleFrame } from './live-clients.ts'
import { ackedRanges } from './live-messages.ts'

/** Returns bytes that identify their own position, and are as good as audio for these tests. */
function audio(bytes: number): Buffer {
  const random = createRandom(bytes)
  return Buffer.from(Array.from({ length: bytes }, () => random() * 256))
}

/** Starts a socket server that stores nothing and acknowledges on demand. */
async function startToy(t: TestContext) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 64 * 2 ** 20 })
  await once(server, 'listening')
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}/v2/live?token=x`,
    /** Waits for the next connection, and collects its frames from the first on. */
    async next() {
      const [socket] = (await once(server, 'connection')) as [WebSocket]
      const frames: { bytes: Buffer; isBinary: boolean }[] = []
      socket.on('message', (bytes: Buffer, isBinary) => frames.push({ bytes, isBinary }))
      return { socket, frames }
    },
  }
}

function ack(socket: WebSocket, range: [number, number]): void {
  const data = { byte_range: range, time_range: [0, 0] }
  socket.send(JSON.stringify({ type: 'audio_chunk', acknowledged: true, error: null, data }))
}

async function sent(socket: WebSocket, frames: readonly unknown[], count: number): Promise<void> {
  while (frames.length < count) await once(socket, 'message')
}

test('an SDK-like client resends exactly the unacknowledged audio in 512 KiB frames', async (t) => {
  const toy = await startToy(t)
  const recording = audio(1_500_000)
  const [first, client] = await Promise.all([toy.next(), connectSdkLike(toy.url)])
  for (let at = 0; at < recording.length; at += 500_000)
    client.send(recording.subarray(at, at + 500_000))
  await sent(first.socket, first.frames, 3)
  ack(first.socket, [0, 100_001])
  await client.until(() => client.acked === 100_001)
  const coming = toy.next()
  first.socket.close(1012)
  const second = await coming
  await sent(second.socket, second.frames, 3)
  assert.deepEqual(
    second.frames.map(({ bytes }) => bytes.length),
    [524_288, 524_288, 351_423],
  )
  const again = Buffer.concat(second.frames.map(({ bytes }) => bytes))
  assert.ok(again.equals(recording.subarray(100_001)))
  ack(second.socket, [100_001, 1_500_000])
  await client.until(() => client.kept === 0)
  assert.deepEqual(ackedRanges(client.messages), [
    [0, 100_001],
    [100_001, 1_500_000],
  ])
  second.socket.close(4408, 'too long')
  assert.deepEqual(await client.ended, { code: 4408, reason: 'too long' })
})

test('a single-frame client resends all its audio in one frame, then stop', async (t) => {
  const toy = await startToy(t)
  const recording = audio(1_200_000)
  const [first, client] = await Promise.all([toy.next(), connectSingleFrame(toy.url)])
  client.send(recording)
  await sent(first.socket, first.frames, 1)
  const coming = toy.next()
  client.cut()
  client.stop()
  const second = await coming
  await sent(second.socket, second.frames, 2)
  const [chunk, stop] = second.frames.map(({ bytes }) => JSON.parse(String(bytes)))
  assert.ok(Buffer.from(chunk.data.chunk, 'base64').equals(recording))
  assert.deepEqual(stop, { type: 'stop_recording' })
  assert.deepEqual(client.closes, [{ code: 1006, reason: '' }])
  second.socket.close(1000)
  await client.ended
})

test('waiting for a message rejects when the connection closes without it', async (t) => {
  const toy = await startToy(t)
  const [{ socket }, client] = await Promise.all([toy.next(), connect(toy.url)])
  ack(socket, [0, 5])
  assert.deepEqual((await client.waitForType('audio_chunk')).data?.byte_range, [0, 5])
  const waiting = assert.rejects(client.waitForType('speech_end'), /closed with 1011 .*audio_chunk/)
  socket.close(1011)
  await waiting
  assert.deepEqual(await client.closed, { code: 1011, reason: '' })
})

test('the proxy passes an exact number of bytes before it cuts, in both directions', async (t) => {
  const recording = audio(300_000)
  let received = Buffer.alloc(0)
  const server = createServer((socket) => {
    received = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
    })
    socket.write(recording)
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(() => proxy.close())

  const down = proxy.cutAfter(123_457, 'down')
  const got = await buffer(connectTcp(proxy.port, '127.0.0.1'))
  await down
  assert.ok(got.equals(recording.subarray(0, 123_457)))

  const up = proxy.cutAfter(200_001, 'up')
  const client = connectTcp(proxy.port, '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  client.write(recording)
  await up
  assert.ok(received.equals(recording.subarray(0, 200_001)), `${received.length}`)
})

test('a black-holed connection passes nothing and stays open; a new one works', async (t) => {
  const toy = await startToy(t)
  const proxy = await startProxy(toy.url)
  t.after(() => proxy.close())
  const [{ socket, frames }, client] = await Promise.all([
    toy.next(),
    connect(proxy.through(toy.url)),
  ])
  proxy.blackHole()
  client.send(audio(10))
  ack(socket, [0, 10])
  proxy.restore()
  await Promise.all([toy.next(), connect(proxy.through(toy.url))])
  assert.deepEqual([frames.length, client.messages.length, client.socket.readyState], [0, 0, 1])
  client.terminate()
})
