import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The number of chunks allowed for any body: some clients send small ones byte by byte. */
const FREE_PIECES = 1000

/**
 * The average size in bytes that further chunks must have: each costs as much as a kilobyte of a
 * large one.
 */
const MIN_PIECE_BYTES = 64

/**
 * Returns a request class that refuses bodies in too many small chunks: a megabyte in chunks of one
 * byte blocks the event loop for a second, before any handler could see it. `refuse` responds on
 * the socket, whose connection then ends.
 */
export function limitChunks(refuse: (socket: Socket) => void): typeof IncomingMessage {
  return class ChunkLimitedRequest extends IncomingMessage {
    #pieces = 0
    #bytes = 0
    #isRefused = false

    override push(piece: Uint8Array | null, encoding?: BufferEncoding): boolean {
      if (this.#isRefused) return false
      if (piece) {
        this.#pieces++
        this.#bytes += piece.byteLength
        if (this.#bytes < (this.#pieces - FREE_PIECES) * MIN_PIECE_BYTES) {
          this.#isRefused = true
          refuse(this.socket)
          this.socket.destroySoon()
          return false
        }
      }
      return super.push(piece, encoding)
    }
  }
}
