import type { IncomingMessage, Server } from 'node:http'

/** A body that a client is sending. */
export type SlowBody = Pick<IncomingMessage, 'complete' | 'destroyed'> & {
  readonly readableLength: number
  readonly readableHighWaterMark: number
  readonly socket: { readonly bytesRead: number; readonly destroyed: boolean }
}

/**
 * The slowest accepted rate. A phone with bad reception is faster; 1 GB within an hour needs a
 * hundred times as much.
 */
const MIN_BYTES_PER_SECOND = 2000
/**
 * Seconds without bytes that a client with a key may have, as in a tunnel or when it changes
 * networks.
 */
const TIMEOUT = 120
/**
 * Seconds without bytes that a client without a valid key may have; its body is discarded anyway.
 */
const UNAUTHENTICATED_TIMEOUT = 10
const TICK_MS = 1000

/** Watches the bodies of requests for slow ones. */
export type BodyWatch<T extends SlowBody = IncomingMessage> = {
  /**
   * `isAuthenticated` is called each second, because the key of a request is looked up while its
   * body arrives.
   */
  add(body: T, isAuthenticated: () => boolean): void
  /** Must be called once a second. */
  tick(): void
}

type WatchedBody = { isAuthenticated: () => boolean; bytes: number; waitedSeconds: number }

/**
 * Creates a watch that aborts bodies which arrive too slowly. Each body has a timeout, which runs
 * while nothing arrives and recovers a second with each 2,000 bytes. Seconds in which the server
 * does not read, because it has not yet stored what arrived, do not count.
 */
export function createBodyWatch<T extends SlowBody>(abortBody: (body: T) => void): BodyWatch<T> {
  const watchedBodies = new Map<T, WatchedBody>()

  /** Counts one second; returns whether the body may continue. */
  function updateWaiting(body: T, state: WatchedBody): boolean {
    const { bytesRead } = body.socket
    const recoveredSeconds = (bytesRead - state.bytes) / MIN_BYTES_PER_SECOND
    state.bytes = bytesRead
    if (body.readableLength >= body.readableHighWaterMark) return true
    const timeout = state.isAuthenticated() ? TIMEOUT : UNAUTHENTICATED_TIMEOUT
    // A fast start does not allow a longer pause later.
    state.waitedSeconds = Math.max(0, state.waitedSeconds + 1 - recoveredSeconds)
    return state.waitedSeconds <= timeout
  }

  return {
    add(body, isAuthenticated) {
      if (body.complete) return
      watchedBodies.set(body, { isAuthenticated, bytes: body.socket.bytesRead, waitedSeconds: 0 })
    },
    tick() {
      for (const [body, state] of watchedBodies) {
        const hasEnded = body.complete || body.destroyed || body.socket.destroyed
        if (!hasEnded && updateWaiting(body, state)) continue
        watchedBodies.delete(body)
        if (!hasEnded) abortBody(body)
      }
    },
  }
}

/**
 * Watches all bodies that `server` receives; sends 408 to clients that are too slow, and
 * disconnects them.
 */
export function watchBodies(server: Server): Pick<BodyWatch, 'add'> {
  const watch = createBodyWatch<IncomingMessage>(({ socket }) => {
    const error = new Error('the body arrives too slowly')
    server.emit('clientError', Object.assign(error, { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  })
  const timer = setInterval(watch.tick, TICK_MS).unref()
  server.once('close', () => clearInterval(timer))
  return watch
}
