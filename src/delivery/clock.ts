import { setTimeout as delay } from 'node:timers/promises'

/** Time as the queue knows it; tests have their own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after so many milliseconds, or when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The computer's clock. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}
