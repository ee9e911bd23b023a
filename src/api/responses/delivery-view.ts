import { maskCredentials } from '../../delivery/masking/mask-credentials.ts'
import { AppError } from '../../errors.ts'
import type { Db } from '../../storage/database/db.ts'
import {
  type DeliveryId,
  type DeliveryStatus,
  findAttempts,
  findDelivery,
  type LoggedAttempt,
  type LoggedDelivery,
} from '../../storage/deliveries/delivery-log.ts'
import { toDateTime } from '../lists/date-time.ts'
import type { DeliveryView } from '../schemas/webhooks/delivery.ts'

const kinds = { callback: 'callback', live: 'live_callback', webhook: 'webhook' } as const

/** Returns the response view of a delivery with its attempts. */
export function toDeliveryView(
  delivery: LoggedDelivery,
  attempts: readonly LoggedAttempt[],
): DeliveryView {
  const { state, nextAt, endedAt } = delivery
  return {
    id: delivery.id,
    job_id: delivery.jobId,
    endpoint_id: delivery.endpointId,
    kind: kinds[delivery.kind],
    event: delivery.event,
    method: delivery.method,
    url: maskCredentials(delivery.url),
    status: deliveryStatusOf(state),
    reason: delivery.reason,
    attempt_count: delivery.attempts,
    created_at: toDateTime(delivery.createdAt),
    next_attempt_at: toDateTime(nextAt),
    completed_at: toDateTime(endedAt),
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      at: toDateTime(attempt.at),
      duration_ms: attempt.ms,
      status_code: attempt.status,
      error: attempt.error,
      request_headers: attempt.requestHeaders,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody,
    })),
  }
}

/** Returns the response view of an account's delivery; throws `delivery_not_found`. */
export async function findDeliveryView(db: Db, requested: DeliveryId): Promise<DeliveryView> {
  const delivery = await findDelivery(db, requested)
  if (!delivery) throw new AppError('delivery_not_found', requested.id)
  const attempts = await findAttempts(db, [delivery.id])
  return toDeliveryView(delivery, attempts.get(delivery.id)!)
}

function deliveryStatusOf(state: LoggedDelivery['state']): DeliveryStatus {
  return state === 'due' || state === 'waiting' ? 'pending' : state
}
