import { setTimeout as delay } from 'node:timers/promises'

/** The clock of the queue; tests use their own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms` milliseconds, or when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The system clock. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}
