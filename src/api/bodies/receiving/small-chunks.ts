import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The number of chunks that any body may have: some clients send small bodies byte by byte. */
const ALLOWED_SMALL_CHUNKS = 1000

/**
 * The average size in bytes that further chunks must have. Each chunk costs as much as a kilobyte
 * of a large one.
 */
const MIN_CHUNK_BYTES = 64

/**
 * Returns a class of requests that refuses bodies in too many small chunks: a megabyte in chunks of
 * one byte blocks the event loop for a second, before any handler could notice it. `refuse`
 * responds on the socket, and then its connection ends.
 */
export function refuseSmallChunks(refuse: (socket: Socket) => void): typeof IncomingMessage {
  return class ChunkLimitedRequest extends IncomingMessage {
    #chunks = 0
    #bytes = 0
    #isRefused = false

    override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
      if (this.#isRefused) return false
      if (chunk) {
        this.#chunks++
        this.#bytes += chunk.byteLength
        if (this.#bytes < (this.#chunks - ALLOWED_SMALL_CHUNKS) * MIN_CHUNK_BYTES) {
          this.#isRefused = true
          refuse(this.socket)
          this.socket.destroySoon()
          return false
        }
      }
      return super.push(chunk, encoding)
    }
  }
}
