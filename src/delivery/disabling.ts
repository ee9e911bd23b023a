import type { Config } from '../config.ts'
import type { Db } from '../storage/db.ts'
import { type Delivery, failEndpointDeliveries, type Settlement } from '../storage/deliveries.ts'
import { disableEndpoint, findEndpoint } from '../storage/endpoints.ts'
import { disabledReason } from '../storage/outbox.ts'
import { GONE } from './verdict.ts'

const DAY_MS = 86_400_000
/** A receiver that is seldom told anything is not disabled by a moment's failure: the third attempt comes later. */
const MIN_TRIES = 3

/** A delivery to an endpoint that failed, and when it did, in milliseconds since 1970. */
export type Failure = {
  delivery: Pick<Delivery, 'endpointId' | 'kind' | 'tries'>
  settlement: Settlement
  at: number
}

/**
 * Disables an endpoint when a failure was the last that it may have: its webhook is gone, or it has not
 * taken anything for days and fails again and again. What is pending for it fails. Resolves to the reason when it did so.
 */
export async function disableIfHopeless(
  db: Db,
  { disableAfterDays }: Pick<Config['delivery'], 'disableAfterDays'>,
  { delivery, settlement, at }: Failure,
): Promise<string | undefined> {
  const { endpointId: id, kind, tries } = delivery
  const isGone = kind === 'webhook' && settlement.attempt.status === GONE
  if (!isGone && tries + 1 < MIN_TRIES) return undefined
  const endpoint = isGone ? undefined : await findEndpoint(db, { id })
  const isFailingSince = (endpoint?.failingSince ?? at) <= at - disableAfterDays * DAY_MS
  if (!isGone && !isFailingSince) return undefined
  const reason = isGone
    ? `it answered ${GONE}: it is gone`
    : `no delivery has succeeded for ${disableAfterDays} ${disableAfterDays === 1 ? 'day' : 'days'}`
  const isChanged = await disableEndpoint(db, id, { reason, at })
  await failEndpointDeliveries(db, id, { reason: disabledReason(reason), at })
  return isChanged ? reason : undefined
}
