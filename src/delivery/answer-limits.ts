import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** A head, as long as it may be, and as much again: what is longer is not read to its end. */
const MAX_ANSWER_BYTES = 64 * 1024
/** Answers of the kind `103 Early Hints` that may come before the real one. */
const MAX_ANNOUNCEMENTS = 10
/** The parser is given so much at once: it does not stop within, and a read may hold thousands of answers. */
const PIECE_BYTES = 2048

/**
 * Cuts a request off whose answer costs more than an answer may: by its bytes as they come over the line,
 * whatever they are, and by the answers that only announce one. Returns what ends the watch, for the
 * connection to be used again.
 */
export function limitAnswer(sent: ClientRequest): () => void {
  let socket: Socket | undefined
  let bytes = 0
  let announcements = 0

  function push(this: Socket, read: Uint8Array | null, encoding?: BufferEncoding): boolean {
    let hasRoom = true
    for (let from = 0; read && from < read.length; from += PIECE_BYTES) {
      const piece = read.subarray(from, from + PIECE_BYTES)
      bytes += piece.length
      if (bytes > MAX_ANSWER_BYTES) cut('HPE_HEADER_OVERFLOW')
      if (this.destroyed) return false
      hasRoom = Readable.prototype.push.call(this, piece, encoding)
    }
    return read ? hasRoom : Readable.prototype.push.call(this, read, encoding)
  }

  function cut(code: string): void {
    sent.destroy(Object.assign(new Error('the answer goes on and on'), { code }))
  }

  function release(): void {
    // The next request may have the connection by now, and watch it itself.
    if (socket?.push === push) Reflect.deleteProperty(socket, 'push')
  }

  sent.once('socket', (taken) => {
    socket = Object.assign(taken, { push })
  })
  sent.once('close', release)
  sent.on('information', () => {
    if (++announcements > MAX_ANNOUNCEMENTS) cut('TOO_MANY_ANNOUNCEMENTS')
  })
  return release
}
