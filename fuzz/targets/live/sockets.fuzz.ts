import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { openSession } from '../../../test/support/live/clients/live-client.ts'
import { opcodes, openRaw, rawFrame } from '../../../test/support/live/clients/raw-frames.ts'
import { call } from '../../../test/support/net/http-client.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

const server = await startServer({ env: { STENO_MAX_LIVE_SESSIONS: '100000' } })

/** Close codes for errors of a client, or for a normal end. */
const CODES = new Set([1000, 1002, 1003, 1005, 1007, 1009, 4400, 4408, 4409, 4410])

const audio = Buffer.alloc(60, 7)
const chunk = JSON.stringify({ type: 'audio_chunk', data: { chunk: audio.toString('base64') } })
const append = JSON.stringify({
  type: 'input_audio_buffer.append',
  audio: audio.toString('base64'),
})
const commit = '{"type":"input_audio_buffer.commit"}'
const stop = '{"type":"stop_recording"}'
const frame = (opcode: keyof typeof opcodes, payload: Uint8Array | string) =>
  rawFrame(opcode, payload)

/** What clients send, as bytes of the connection. */
const conversations = [
  [frame('binary', audio), frame('binary', audio), frame('text', stop)],
  [frame('text', chunk), frame('ping', 'x'), frame('pong', '1'), frame('text', stop)],
  [rawFrame('binary', audio, { isLast: false }), frame('continuation', audio), frame('text', stop)],
  [frame('text', append), frame('text', commit), frame('close', Buffer.from([3, 232]))],
  [
    frame('text', '{"type":"session.update","session":{"type":"transcription"}}'),
    frame('text', append),
  ],
].map((frames) => Buffer.concat(frames))

/**
 * Returns the close code that the server sent, if it sent one, once it has ended the connection.
 */
async function converse(url: string, bytes: Buffer): Promise<number | undefined> {
  const socket = await openRaw(url, [`authorization: Bearer ${server.key}`])
  const received: Buffer[] = []
  socket.on('data', (part) => received.push(part))
  socket.end(bytes)
  await ended(socket)
  return closeCodeIn(Buffer.concat(received))
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** The code of the first close frame among frames of a server, which are not masked. */
function closeCodeIn(frames: Buffer): number | undefined {
  for (let at = 0; at + 2 <= frames.length; ) {
    const opcode = frames[at]! % 16
    const short = frames[at + 1]! % 128
    const [length, head] =
      short < 126 ? [short, 2] : short === 126 ? [frames.readUInt16BE(at + 2), 4] : [2 ** 40, 10]
    if (opcode === opcodes.close) return length >= 2 ? frames.readUInt16BE(at + head) : 1005
    at += head + length
  }
  return undefined
}

const bytes = mutated(conversations)

await fuzz('sockets', fc.tuple(bytes, fc.boolean()), async ([bytes, isRealtime]) => {
  const session = isRealtime ? undefined : await openSession(server)
  const address = session?.url ?? `${server.url.replace('http', 'ws')}/v1/realtime`
  const code = await converse(address, bytes)
  assert.ok(code === undefined || CODES.has(code), `closed with ${code}`)
  assert.equal((await call(server, '/health')).status, 200)
  if (session) await call(server, `/v2/live/${session.id}`, { method: 'DELETE' })
})
await server.close()
