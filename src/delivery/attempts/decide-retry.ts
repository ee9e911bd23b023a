import { parseRetryAfter } from '../../net/retry-after.ts'
import type { AttemptRecord, Delivery } from '../../storage/deliveries/deliveries.ts'
import { type RetryDelays, retryDelay } from './retry-schedule.ts'

/** The outcome of an attempt; `nextAt` is in milliseconds since 1970. */
export type Decision =
  | { outcome: 'delivered' }
  | { outcome: 'retry'; nextAt: number; reason: string }
  | { outcome: 'failed'; reason: string; endsSequence?: boolean }

/** The HTTP status with which a receiver refuses all further deliveries. */
export const HTTP_GONE = 410

/** After this many attempts, `Retry-After` no longer shortens the delay. */
const MAX_SHORT_WAITS = 3

/**
 * Decides the outcome of an attempt. Any 2xx status is a success. A receiver that responds with 410
 * gets nothing more. Anything else is retried until the attempts are used up, after the delay that
 * the receiver requests or the default one. Later attempts wait at least the default delay, so that
 * a receiver that requests a second does not use up all attempts while it restarts.
 */
export function decideRetry(
  { kind, attemptsSinceQueued }: Pick<Delivery, 'kind' | 'attemptsSinceQueued'>,
  { status, error, responseHeaders }: AttemptRecord,
  { now, random, delays }: { now: number; random: () => number; delays?: RetryDelays | undefined },
): Decision {
  if (status !== null && status >= 200 && status <= 299) return { outcome: 'delivered' }
  if (status === HTTP_GONE) {
    return { outcome: 'failed', reason: 'gone', endsSequence: kind !== 'webhook' }
  }
  const reason =
    status === null ? (error ?? 'no response') : `the receiver responded with ${status}`
  const delay = retryDelay(
    { kind, attemptsSinceQueued: attemptsSinceQueued + 1 },
    { random, delays },
  )
  if (delay === undefined) return { outcome: 'failed', reason }
  const retryAfter = parseRetryAfter(responseHeaders?.['retry-after'], { now })
  const minDelay = attemptsSinceQueued < MAX_SHORT_WAITS ? 0 : delay
  const wait = retryAfter === undefined ? delay : Math.max(retryAfter, minDelay)
  return { outcome: 'retry', nextAt: now + wait, reason }
}
