import type { Readable } from 'node:stream'

/**
 * Maximum bytes that are discarded. Many clients read the response only after they have sent
 * everything.
 */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024
/** A client that sends nothing for this long is waiting for its response. */
const IDLE_TIMEOUT_MS = 500

/**
 * Reads and discards the rest of a refused body, within limits: if a connection is closed while
 * bytes still arrive, it is reset, and the client never sees the response. `maxMs` limits the
 * duration; bodies of clients with a key have their own limit, see `slow-bodies.ts`.
 */
export function drainBody(body: Readable, { maxMs }: { maxMs?: number } = {}): Promise<void> {
  if (body.readableEnded || body.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let droppedBytes = 0
    const idleTimer = setTimeout(() => finish(), IDLE_TIMEOUT_MS)
    const maxTimer = maxMs === undefined ? undefined : setTimeout(() => finish(), maxMs)
    const finish = () => {
      clearTimeout(idleTimer)
      clearTimeout(maxTimer)
      resolve()
    }
    body.on('data', (bytes: Uint8Array) => {
      droppedBytes += bytes.byteLength
      if (droppedBytes > MAX_DROPPED_BYTES) finish()
      else idleTimer.refresh()
    })
    for (const event of ['end', 'close', 'error']) body.once(event, finish)
    body.unpipe()
    body.resume()
  })
}
