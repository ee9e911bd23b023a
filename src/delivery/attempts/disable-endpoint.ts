import { DAY_MS } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../storage/database/db.ts'
import type { AttemptResult, Delivery } from '../../storage/deliveries/deliveries.ts'
import { disableEndpoint, findEndpoint } from '../../storage/deliveries/endpoints/endpoints.ts'
import { HTTP_GONE } from './decide-retry.ts'

/** A failed delivery to an endpoint, and when it failed, in milliseconds since 1970. */
export type Failure = {
  delivery: Pick<Delivery, 'endpointId' | 'kind'>
  result: AttemptResult
  at: number
}

/**
 * Disables an endpoint if its webhook responded with 410, or if it has accepted nothing for days
 * despite repeated attempts. Resolves to the reason if it did. Pending deliveries fail when they
 * are due.
 */
export async function disableFailingEndpoint(
  db: Db,
  { disableAfterDays }: Pick<Config['delivery'], 'disableAfterDays'>,
  { delivery, result, at }: Failure,
): Promise<string | undefined> {
  const { endpointId: id, kind } = delivery
  const isGone = kind === 'webhook' && result.attempt.status === HTTP_GONE
  const endpoint = isGone ? undefined : await findEndpoint(db, { id })
  const isFailingSince = (endpoint?.failingSince ?? at) <= at - disableAfterDays * DAY_MS
  if (!isGone && !isFailingSince) return undefined
  const reason = isGone
    ? `it responded with ${HTTP_GONE} (Gone)`
    : `no delivery has succeeded for ${disableAfterDays} ${disableAfterDays === 1 ? 'day' : 'days'}`
  const isChanged = await disableEndpoint(db, id, { reason, at })
  return isChanged ? reason : undefined
}
