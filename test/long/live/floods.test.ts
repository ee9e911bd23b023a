import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { ackedRanges, ofType } from '../../support/live/clients/live-messages.ts'
import { openRaw, rawFrame } from '../../support/live/clients/raw-frames.ts'
import { call } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

const fragments = [
  rawFrame('binary', '', { isLast: false }),
  ...Array.from({ length: 60 }, () => rawFrame('continuation', '', { isLast: false })),
  rawFrame('continuation', 'ab'),
]
const chunkText = '{"type":"audio_chunk","data":{"chunk":"AQI="}}'

/** What one socket may send without end, a few bytes at a time. */
const floods: Record<string, Buffer> = {
  'frames of two bytes': rawFrame('binary', 'ab'),
  'empty frames': rawFrame('binary'),
  pings: rawFrame('ping', 'x'),
  pongs: rawFrame('pong', '999999'),
  'fragments of nothing': Buffer.concat(fragments),
  'chunks of two bytes in base64': rawFrame('text', chunkText),
  'stops without end': rawFrame('text', '{"type":"stop_recording"}'),
}

/**
 * More than a server that bounds the frames it takes reads of them in the time of some requests.
 */
const FLOOD_BYTES = 4 * 1024 * 1024

for (const [name, frame] of Object.entries(floods)) {
  test(`${name} are left unread and do not delay others`, async () => {
    const read: Socket[] = []
    const onUpgrade = (_: unknown, socket: Socket) => void read.push(socket)
    server.app.http.server.on('upgrade', onUpgrade)
    const copies = Math.ceil(FLOOD_BYTES / frame.length)
    const bytes = Buffer.concat(Array.from({ length: copies }, () => frame))
    const sockets: Socket[] = []
    for (let i = 0; i < 3; i++) {
      const { url } = await openSession(server)
      sockets.push(await openRaw(url))
    }
    server.app.http.server.off('upgrade', onUpgrade)
    for (const socket of sockets) socket.write(bytes)
    // Each takes some turns of the loop: by then a server that reads all it gets has read all of
    // this.
    const headers = { 'x-service-key': OTHER_KEY }
    for (let i = 0; i < 100; i++) {
      assert.equal((await call(server, '/v2/live?limit=1', { headers })).status, 200)
    }
    for (const { bytesRead } of read) assert.ok(bytesRead < FLOOD_BYTES / 2, `${bytesRead} bytes`)
    for (const socket of sockets) socket.destroy()
  })
}

test('many small frames are acknowledged in order with their own ranges', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  const sizes = Array.from({ length: 3500 }, (_, i) => (i % 3 === 0 ? 0 : 2 * (i % 4)))
  for (const size of sizes) client.send(Buffer.alloc(size))
  await client.until(() => ackedRanges(client.messages).length === sizes.length)
  let to = 0
  const expected = sizes.map((size) => {
    const from = to
    to += size
    return [from, to]
  })
  assert.deepEqual(ackedRanges(client.messages), expected)
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('a client whose frames have to wait gets one ping at a time', async () => {
  const { url } = await openSession(server)
  const client = await connect(url, { autoPong: false })
  let pingCount = 0
  client.socket.on('ping', () => pingCount++)
  for (let i = 0; i < 5000; i++) client.send(Buffer.alloc(300))
  await client.until(() => ackedRanges(client.messages).length === 5000)
  assert.ok(pingCount <= 1, `${pingCount} pings`)
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('unreadable messages close the connection even between chunks', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  for (let i = 0; i < 500; i++) {
    client.socket.send('nonsense')
    client.send(Buffer.alloc(0))
  }
  assert.equal((await client.closed).code, 4400)
  assert.ok(ofType(client.messages, 'error').length < 200)
})
