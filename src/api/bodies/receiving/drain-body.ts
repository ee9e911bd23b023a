import type { Readable } from 'node:stream'

/**
 * Limit of the bytes that are discarded. Many clients read the response only after they have sent
 * everything.
 */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024
/** A client that sends nothing for this long is waiting for its response. */
const PAUSE_MS = 500

/**
 * Reads and discards the rest of a refused body, within limits. If a connection is closed while
 * bytes still arrive, it is reset, and the client never sees the response. `maxMs` limits the
 * duration; bodies of clients with a key have their own limit, see `slow-bodies.ts`.
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
