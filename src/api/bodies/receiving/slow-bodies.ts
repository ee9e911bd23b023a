import type { IncomingMessage, Server } from 'node:http'

/** A body that a client is sending. */
export type SlowBody = Pick<IncomingMessage, 'complete' | 'destroyed'> & {
  readonly readableLength: number
  readonly readableHighWaterMark: number
  readonly socket: { readonly bytesRead: number; readonly destroyed: boolean }
}

/**
 * The slowest rate. A phone with bad reception is faster; 1 GB within an hour needs a hundred times
 * as much.
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

/** Watches the bodies of requests; time is counted in seconds. */
export type BodyWatch<T extends SlowBody = IncomingMessage> = {
  /**
   * `isKnown` is called each second, because the key of a request is looked up while its body
   * arrives.
   */
  add(body: T, isKnown: () => boolean): void
  /** Must be called once a second. */
  tick(): void
}

type WatchedBody = { isKnown: () => boolean; bytes: number; waited: number }

/**
 * Creates a watch that cuts off bodies which arrive too slowly. Each has a timeout in seconds,
 * which runs while nothing arrives and recovers a second with each 2,000 bytes. Seconds in which
 * the server does not read, because it has yet to store what arrived, do not count.
 */
export function createBodyWatch<T extends SlowBody>(giveUp: (body: T) => void): BodyWatch<T> {
  const watched = new Map<T, WatchedBody>()

  function pass(body: T, state: WatchedBody): boolean {
    const { bytesRead } = body.socket
    const earned = (bytesRead - state.bytes) / MIN_BYTES_PER_SECOND
    state.bytes = bytesRead
    if (body.readableLength >= body.readableHighWaterMark) return true
    const timeout = state.isKnown() ? TIMEOUT : UNAUTHENTICATED_TIMEOUT
    // A fast start does not allow a longer pause later.
    state.waited = Math.max(0, state.waited + 1 - earned)
    return state.waited <= timeout
  }

  return {
    add(body, isKnown) {
      if (body.complete) return
      watched.set(body, { isKnown, bytes: body.socket.bytesRead, waited: 0 })
    },
    tick() {
      for (const [body, state] of watched) {
        const isOver = body.complete || body.destroyed || body.socket.destroyed
        if (!isOver && pass(body, state)) continue
        watched.delete(body)
        if (!isOver) giveUp(body)
      }
    },
  }
}

/**
 * Watches all bodies that `server` receives; sends 408 to clients that are too slow, and cuts
 * them off.
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
