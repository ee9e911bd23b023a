import type { Readable } from 'node:stream'

/** Many clients listen only after they have sent everything; this much of it is worth an answer that arrives. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024
/** A client that has sent nothing for this long is waiting for its answer. */
const PAUSE_MS = 500

/**
 * Reads and drops what is left of a refused body, within limits. A connection that closes while
 * bytes are still coming is reset, and the client would never see why it was refused. `maxMs` bounds how
 * long this takes; bodies of clients with a key have a limit of their own, see `slow-bodies.ts`.
 */
export function drainBody(body: Readable, { maxMs }: { maxMs?: number } = {}): Promise<void> {
  if (body.readableEnded || body.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let dropped = 0
    const timer = setTimeout(() => done(), PAUSE_MS)
    const end = maxMs === undefined ? undefined : setTimeout(() => done(), maxMs)
    const done = () => {
      clearTimeout(timer)
      clearTimeout(end)
      resolve()
    }
    body.on('data', (bytes: Uint8Array) => {
      dropped += bytes.byteLength
      if (dropped > MAX_DROPPED_BYTES) done()
      else timer.refresh()
    })
    for (const event of ['end', 'close', 'error']) body.once(event, done)
    body.unpipe()
    body.resume()
  })
}
