/**
 * The clocks of this process. Both follow the database that several servers share, so what one of
 * them writes is due at the same moment for all, however wrong the clock of its machine is.
 */

/** Synchronized machines differ by less than this. */
const TOLERATED_MS = 1000
/** A response that takes longer is too inexact to follow. */
const MAX_RESPONSE_MS = 1000

/** The length of a day, in milliseconds. */
export const DAY_MS = 86_400_000

/** The longest delay of a Node.js timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** The longest last part of a receive timeout. */
const LAST_PART_MS = 5000

/** What is added to the clocks of this machine. */
const correction = { wall: 0, steady: 0 }

/** A timeout that `restart` starts anew, because something has arrived. */
export type ReceiveTimeout = { restart(): void; clear(): void }

/** Returns the time in milliseconds since 1970. */
export function wallNow(): number {
  return Date.now() + correction.wall
}

/**
 * Returns milliseconds since 1970, read when the process started and counted up from there. Leases
 * and delays use it, so setting the system clock neither ends nor extends one.
 */
export function steadyNow(): number {
  return Math.round(ownSteady()) + correction.steady
}

/** Returns the seconds since a time of `performance.now()`. */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000
}

/**
 * Calls `onTimeout` after `ms`, unless it is cleared or restarted because something arrived. If
 * this process stood still, as in a paused container, timers fire before the sockets are read.
 * The last part of the time therefore begins only when the first part has ended, so what has
 * arrived by then is read.
 */
export function startReceiveTimeout(onTimeout: () => void, ms: number): ReceiveTimeout {
  const lastPartMs = Math.min(LAST_PART_MS, ms / 4)
  let timer: NodeJS.Timeout
  const start = () => {
    timer = setTimeout(() => {
      timer = setTimeout(onTimeout, lastPartMs)
    }, ms - lastPartMs)
  }
  start()
  return {
    restart() {
      clearTimeout(timer)
      start()
    },
    clear: () => clearTimeout(timer),
  }
}

/** Reads another clock and follows it from now on. Returns by how much the wall clock differs. */
export async function followClock(read: () => Promise<number>): Promise<number> {
  const sentAt = ownSteady()
  const response = await read()
  const receivedAt = ownSteady()
  if (receivedAt - sentAt > MAX_RESPONSE_MS) return correction.wall
  const otherNow = Math.round(response + (receivedAt - sentAt) / 2)
  if (Math.abs(otherNow - wallNow()) > TOLERATED_MS) correction.wall = otherNow - Date.now()
  if (Math.abs(otherNow - steadyNow()) > TOLERATED_MS) {
    correction.steady = otherNow - Math.round(receivedAt)
  }
  return correction.wall
}

function ownSteady(): number {
  return performance.timeOrigin + performance.now()
}
