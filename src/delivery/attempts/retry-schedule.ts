import type { Delivery } from '../../storage/deliveries/deliveries.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const defaultSchedule = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  4 * HOUR,
  12 * HOUR,
]
/**
 * Messages of a live session are useful only while it lasts, so they are retried for less than a
 * minute.
 */
const liveSchedule = [1, 2, 5, 15, 30].map((seconds) => seconds * SECOND)

/** Milliseconds to wait after each failed attempt except the last. */
export type RetryDelays = Record<Delivery['kind'], readonly number[]>

const defaultDelays: RetryDelays = {
  callback: defaultSchedule,
  webhook: defaultSchedule,
  live: liveSchedule,
}

/**
 * Returns the milliseconds until the next attempt, after `attemptsSinceQueued` failed ones;
 * undefined after the last. The usual delay is multiplied by a random factor from 0.5 to 1.5, so
 * that a receiver that recovers is not hit by all retries at once.
 */
export function retryDelay(
  { kind, attemptsSinceQueued }: Pick<Delivery, 'kind' | 'attemptsSinceQueued'>,
  { random, delays = defaultDelays }: { random: () => number; delays?: RetryDelays | undefined },
): number | undefined {
  const delay = delays[kind][attemptsSinceQueued - 1]
  return delay === undefined ? undefined : Math.round(delay * (0.5 + random()))
}
