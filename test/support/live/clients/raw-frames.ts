import { randomBytes } from 'node:crypto'
import { connect as connectSocket, type Socket } from 'node:net'

/** The opcodes of RFC 6455. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 }

/** Encodes a frame of up to 125 bytes as a client writes it. */
export function rawFrame(
  opcode: keyof typeof opcodes,
  payload: Uint8Array | string = '',
  { isLast = true } = {},
): Buffer {
  const bytes = Buffer.from(payload)
  const head = [(isLast ? 0x80 : 0) | opcodes[opcode], 0x80 | bytes.length, 0, 0, 0, 0]
  return Buffer.concat([Buffer.from(head), bytes])
}

/**
 * Opens a WebSocket up to the handshake, and returns the socket below it, so that a test can write
 * frames as fast as the network accepts them. The data of the server are read and discarded.
 */
export async function openRaw(url: string, headers: readonly string[] = []): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connectSocket(Number(port), hostname)
  const key = randomBytes(16).toString('base64')
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    ...headers,
  ]
  socket.on('error', () => {})
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.resume()
  return socket
}
