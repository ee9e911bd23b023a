import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** The longest allowed head, and as much again: a longer response is not read to its end. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Responses like `103 Early Hints` that may come before the real one. */
const MAX_INFORMATIONAL = 10
/**
 * The parser gets this much at once: it does not stop within a chunk, and one read may hold
 * thousands of responses.
 */
const CHUNK_BYTES = 2048

/**
 * Cuts off a request whose response costs too much. Counts its bytes on the wire, whatever they
 * are, and its informational (1xx) responses. Returns a function that ends the watch, so that the
 * connection can be reused.
 */
export function limitResponse(sent: ClientRequest): () => void {
  let socket: Socket | undefined
  let bytes = 0
  let informational = 0

  function push(this: Socket, read: Uint8Array | null, encoding?: BufferEncoding): boolean {
    let hasSpace = true
    for (let from = 0; read && from < read.length; from += CHUNK_BYTES) {
      const chunk = read.subarray(from, from + CHUNK_BYTES)
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) cut('HPE_HEADER_OVERFLOW')
      if (this.destroyed) return false
      hasSpace = Readable.prototype.push.call(this, chunk, encoding)
    }
    return read ? hasSpace : Readable.prototype.push.call(this, read, encoding)
  }

  function cut(code: string): void {
    sent.destroy(Object.assign(new Error('the response does not end'), { code }))
  }

  function release(): void {
    // The next request may already have the connection and watch it itself.
    if (socket?.push === push) Reflect.deleteProperty(socket, 'push')
  }

  sent.once('socket', (assignedSocket) => {
    socket = Object.assign(assignedSocket, { push })
  })
  sent.once('close', release)
  sent.on('information', () => {
    if (++informational > MAX_INFORMATIONAL) cut('TOO_MANY_INFORMATIONAL_RESPONSES')
  })
  return release
}
