import { setTimeout as delay } from 'node:timers/promises'
import { wallNow } from '../clock.ts'

/** The clock of the deliveries; tests use their own. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms` milliseconds, or when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The clock of the process. */
export const systemClock: Clock = {
  now: wallNow,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}
