import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/**
 * Maximum bytes of a response: twice the longest allowed head. A longer response is not read to its
 * end.
 */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Maximum informational responses, such as `103 Early Hints`, before the final one. */
const MAX_INFORMATIONAL = 10
/**
 * The parser gets chunks of this size: it does not stop within a chunk, and one read may contain
 * thousands of responses.
 */
const CHUNK_BYTES = 2048

/**
 * Destroys a request whose response costs too much: counts its bytes on the wire, whatever they
 * are, and its informational (1xx) responses. Returns a function that removes the limits, so that
 * the connection can be reused.
 */
export function limitResponse(clientRequest: ClientRequest): () => void {
  let socket: Socket | undefined
  let bytes = 0
  let informational = 0

  function push(this: Socket, read: Uint8Array | null, encoding?: BufferEncoding): boolean {
    let hasSpace = true
    for (let from = 0; read && from < read.length; from += CHUNK_BYTES) {
      const chunk = read.subarray(from, from + CHUNK_BYTES)
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) abort('HPE_HEADER_OVERFLOW')
      if (this.destroyed) return false
      hasSpace = Readable.prototype.push.call(this, chunk, encoding)
    }
    return read ? hasSpace : Readable.prototype.push.call(this, read, encoding)
  }

  function abort(code: string): void {
    clientRequest.destroy(Object.assign(new Error('the response does not end'), { code }))
  }

  function release(): void {
    // The next request may already use the connection and have set its own limits.
    if (socket?.push === push) Reflect.deleteProperty(socket, 'push')
  }

  clientRequest.once('socket', (assignedSocket) => {
    socket = Object.assign(assignedSocket, { push })
  })
  clientRequest.once('close', release)
  clientRequest.on('information', () => {
    if (++informational > MAX_INFORMATIONAL) abort('TOO_MANY_INFORMATIONAL_RESPONSES')
  })
  return release
}
