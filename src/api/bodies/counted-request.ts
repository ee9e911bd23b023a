import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The pieces that any body may come in: small ones are sent byte by byte by some clients. */
const FREE_PIECES = 1000

/** What further pieces must hold on average, in bytes: each costs as much as a kilobyte of a large one. */
const MIN_PIECE_BYTES = 64

/**
 * The class of requests whose bodies must not come in too small pieces: a megabyte sent in chunks of one byte holds the
 * loop for a second, before anybody could look at it. `refuse` answers on the socket, whose connection then ends.
 */
export function countedRequests(refuse: (socket: Socket) => void): typeof IncomingMessage {
  return class CountedRequest extends IncomingMessage {
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
