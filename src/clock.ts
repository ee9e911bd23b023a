/**
 * The clocks of this process. Both follow the database that several servers share, so what one of
 * them writes is due at the same moment for all, however wrong the clock of its machine is.
 */

/** Machines that keep time differ by less. */
const TOLERATED_MS = 1000
/** A slower answer says too little about the moment at which it was given. */
const MAX_ANSWER_MS = 1000

/** What is added to the clocks of this machine. */
const correction = { wall: 0, steady: 0 }

/** Returns the time in milliseconds since 1970. */
export function wallNow(): number {
  return Date.now() + correction.wall
}

/**
 * Returns milliseconds since 1970, read when the process started and counted up from there. Leases
 * and delays use it, so setting the system clock neither ends nor extends one.
 */
export function monotonicNow(): number {
  return Math.round(ownSteady()) + correction.steady
}

/** Asks another clock for its time, and follows it from now on. Returns by how much it differs. */
export async function followClock(ask: () => Promise<number>): Promise<number> {
  const askedAt = ownSteady()
  const answer = await ask()
  const answeredAt = ownSteady()
  if (answeredAt - askedAt > MAX_ANSWER_MS) return correction.wall
  const theirs = Math.round(answer + (answeredAt - askedAt) / 2)
  if (Math.abs(theirs - wallNow()) > TOLERATED_MS) correction.wall = theirs - Date.now()
  if (Math.abs(theirs - monotonicNow()) > TOLERATED_MS) {
    correction.steady = theirs - Math.round(answeredAt)
  }
  return correction.wall
}

function ownSteady(): number {
  return performance.timeOrigin + performance.now()
}
