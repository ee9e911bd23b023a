import { KEPT_ATTEMPTS } from '../../storage/deliveries/deliveries.ts'
import type { LoggedDelivery } from '../../storage/deliveries/delivery-log.ts'

/**
 * Groups deliveries whose attempts are loaded together. A group has at most as many attempts as are
 * kept of one delivery: about half a megabyte, mostly headers of receivers.
 */
export function* groupByAttempts<T extends Pick<LoggedDelivery, 'attempts'>>(
  deliveries: readonly T[],
): Generator<T[]> {
  let group: T[] = []
  let attemptCount = 0
  for (const delivery of deliveries) {
    // A delivery without attempts counts as one attempt, because it may get one in the meantime.
    const attempts = Math.max(1, Math.min(delivery.attempts, KEPT_ATTEMPTS))
    if (attemptCount + attempts > KEPT_ATTEMPTS) {
      yield group
      group = []
      attemptCount = 0
    }
    group.push(delivery)
    attemptCount += attempts
  }
  if (group.length > 0) yield group
}
