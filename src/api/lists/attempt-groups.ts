import { KEPT_ATTEMPTS } from '../../storage/deliveries/deliveries.ts'
import type { LoggedDelivery } from '../../storage/deliveries/delivery-log.ts'

/**
 * Groups deliveries whose attempts are loaded together: in total as many as one delivery can have,
 * which come to half a megabyte, most of it headers of receivers. Deliveries that succeeded at once
 * are loaded fifty at a time.
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
