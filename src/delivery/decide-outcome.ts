import type { AttemptRecord, Delivery } from '../storage/deliveries/deliveries.ts'
import { parseRetryAfter } from './retry-after.ts'
import { type RetryDelays, retryDelay } from './retry-delay.ts'

/** What follows from an attempt. */
export type Decision =
  | { outcome: 'delivered' }
  | { outcome: 'retry'; nextAt: number; reason: string }
  | { outcome: 'failed'; reason: string; endsLane?: boolean }

/** What a receiver says that wants to hear nothing more. */
export const HTTP_GONE = 410

/**
 * Decides on an attempt (contract 6.4): any 2xx is a success; a receiver that is gone is told nothing more;
 * all else is tried again until the attempts are used up, when the receiver says or by the usual delays.
 */
export function decideOutcome(
  { kind, tries }: Pick<Delivery, 'kind' | 'tries'>,
  { status, error, responseHeaders }: AttemptRecord,
  { now, random, delays }: { now: number; random: () => number; delays?: RetryDelays | undefined },
): Decision {
  if (status !== null && status >= 200 && status <= 299) return { outcome: 'delivered' }
  if (status === HTTP_GONE) {
    return { outcome: 'failed', reason: 'gone', endsLane: kind !== 'webhook' }
  }
  const reason = status === null ? (error ?? 'no answer') : `the receiver answered ${status}`
  const usual = retryDelay({ kind, tries: tries + 1 }, { random, delays })
  if (usual === undefined) return { outcome: 'failed', reason }
  const asked = parseRetryAfter(responseHeaders?.['retry-after'], { now })
  return { outcome: 'retry', nextAt: now + (asked ?? usual), reason }
}
