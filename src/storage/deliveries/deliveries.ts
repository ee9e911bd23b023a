import { type Selectable, type SqlBool, sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'
import type { DeliveryRow } from '../database/tables.ts'
import { deleteWithObjects } from '../objects/delete-with-objects.ts'
import { isPending, lockSequence, makeNextDue } from './queue-deliveries.ts'

/**
 * The delivery of one event to one endpoint: pending, delivered or failed. Times are milliseconds
 * since 1970.
 */
export type Delivery = {
  /** The `webhook-id` of every attempt. */
  id: string
  account: string
  /** Null for a test delivery. */
  jobId: string | null
  endpointId: string
  /** Its position among the deliveries of the job to the endpoint. */
  seq: number
  kind: DeliveryRow['kind']
  event: string
  method: DeliveryRow['method']
  url: string
  body: string | null
  bodyObject: string | null
  state: DeliveryRow['state']
  /** Why it failed, or why the last attempt did. */
  reason: string | null
  /** Attempts since it was queued or last resent. */
  attemptsSinceQueued: number
  /** All attempts. */
  attempts: number
  createdAt: number
  /** When the next attempt is due; null while it waits for another delivery. */
  nextAt: number | null
  endedAt: number | null
  /** The number of its lease: the outcome of an attempt under an older lease is dropped. */
  leaseEpoch: number
}

/** An endpoint with a delivery to send, now or later. */
export type DueEndpoint = {
  endpointId: string
  account: string
  nextAt: number
  /** Whether its last delivery succeeded. */
  isProven: boolean
}

/** The maximum number of endpoints found at once. */
export const MAX_DUE_ENDPOINTS = 5000

/**
 * Finds the endpoints that have something due by `until`, with the time of the first delivery: at
 * most `MAX_DUE_ENDPOINTS`, of each account the earliest, so that no account hides the endpoints of
 * others. It moves from endpoint to endpoint through the index, so further due deliveries of an
 * endpoint cost nothing.
 */
export async function findDueEndpoints(
  db: Db,
  { until }: { until: number },
): Promise<DueEndpoint[]> {
  const { rows } = await sql<Omit<DueEndpoint, 'isProven'> & { isProven: unknown }>`
    with recursive waiting (endpoint_id) as (
      select min(endpoint_id) from deliveries where state = 'due'
      union all
      select (select min(endpoint_id) from deliveries
        where state = 'due' and endpoint_id > waiting.endpoint_id)
      from waiting where waiting.endpoint_id is not null
    ), first as (
      select waiting.endpoint_id,
        (select next_at from deliveries where state = 'due'
          and endpoint_id = waiting.endpoint_id order by next_at limit 1) as next_at,
        (select account from deliveries where state = 'due'
          and endpoint_id = waiting.endpoint_id limit 1) as account
      from waiting where waiting.endpoint_id is not null
    )
    select endpoint_id as "endpointId", account, next_at as "nextAt", exists (
      select 1 from endpoints
      where id = endpoint_id and failing_since is null and last_success_at is not null
    ) as "isProven"
    from (
      select *, row_number() over (partition by account order by next_at) as place
      from first where next_at <= ${until}
    ) as due
    order by place, next_at
    limit ${MAX_DUE_ENDPOINTS}`.execute(db.reader)
  return rows.map((row) => ({ ...row, isProven: db.dialect.toBoolean(row.isProven) }))
}

/**
 * Makes deliveries due now whose due time is so far ahead that only a clock that was turned back
 * can explain it. Returns their number.
 */
export async function correctDueTimes(
  db: Db,
  { now, latest }: { now: number; latest: number },
): Promise<number> {
  const { numUpdatedRows } = await db.sql
    .updateTable('deliveries')
    .set({ next_at: now })
    .where('state', '=', sql.lit('due'))
    .where('next_at', '>', latest)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/**
 * Moves future due times forward by as much as the clock was turned back, so that every delivery
 * waits as long as intended. Deliveries that were already due before are due now.
 */
export async function shiftDueTimes(
  db: Db,
  { now, by }: { now: number; by: number },
): Promise<void> {
  await db.sql
    .updateTable('deliveries')
    .set({
      next_at: sql<number>`case when next_at < ${now + by} then ${now} else next_at - ${by} end`,
    })
    .where('state', '=', sql.lit('due'))
    .where('next_at', '>', now)
    .execute()
}

/** The request and response of one attempt, with secrets already hidden. */
export type AttemptRecord = {
  at: number
  ms: number
  status: number | null
  /** Why there was no response. */
  error: string | null
  requestHeaders: Record<string, string>
  responseHeaders: Record<string, string> | null
  responseBody: string | null
}

/** The outcome of an attempt, and what follows from it. */
export type AttemptResult = {
  delivery: Pick<Delivery, 'id' | 'jobId' | 'endpointId' | 'leaseEpoch'>
  attempt: AttemptRecord
} & (
  | { outcome: 'delivered' }
  | { outcome: 'retry'; nextAt: number; reason: string }
  /** `endsSequence`: no further delivery of the job is sent to this endpoint. */
  | { outcome: 'failed'; reason: string; endsSequence?: boolean }
)

/**
 * Records how an attempt ended, and makes the next delivery of its sequence due, in one
 * transaction. An attempt whose delivery was deleted meanwhile, or went to another sender, is not
 * recorded; nor is one that is recorded already, because the response to its commit was lost.
 */
export function recordOutcome(db: Db, result: AttemptResult): Promise<void> {
  return inTransaction(db, (tx) => writeOutcome(tx, result))
}

async function writeOutcome(tx: Db, result: AttemptResult): Promise<void> {
  const { delivery, attempt, outcome } = result
  await lockSequence(tx, delivery)
  const endedAt = attempt.at + attempt.ms
  const reason = outcome === 'delivered' ? null : result.reason
  const change =
    outcome === 'retry'
      ? { state: 'due' as const, next_at: result.nextAt, reason }
      : { state: outcome, next_at: null, reason, ended_at: endedAt }
  const counted = tx.sql
    .updateTable('deliveries')
    .set((row) => ({ tries: row('tries', '+', 1), attempts: row('attempts', '+', 1) }))
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', delivery.id)
    .where('lease_epoch', '=', delivery.leaseEpoch)
    .where(sql<SqlBool>`not exists (select 1 from delivery_attempts
      where delivery_id = ${delivery.id} and at = ${attempt.at})`)
    .returning('attempts')
  const isStillDue = outcome === 'delivered' ? sql<SqlBool>`true` : sql<SqlBool>`state = 'due'`
  const changedRow = await counted.set(change).where(isStillDue).executeTakeFirst()
  // If the delivery failed during the attempt, because its endpoint was disabled, the attempt is
  // still recorded.
  const row = changedRow ?? (await counted.executeTakeFirst())
  if (!row) return
  await insertAttempt(tx, { deliveryId: delivery.id, number: row.attempts, attempt })
  await recordHealth(tx, delivery.endpointId, { at: endedAt, failure: reason })
  if (!changedRow) return
  const { jobId, endpointId } = delivery
  if (outcome === 'retry' || jobId === null) return
  if (outcome === 'failed' && result.endsSequence) {
    await tx.sql
      .updateTable('deliveries')
      .set({ state: 'failed', reason: result.reason, next_at: null, ended_at: endedAt })
      .where('endpoint_id', '=', endpointId)
      .where('job_id', '=', jobId)
      .where(isPending)
      .execute()
  } else {
    await makeNextDue(tx, { jobId, endpointId }, { at: endedAt })
  }
}

/**
 * The number of newest attempts kept per delivery. A delivery can be resent any number of times,
 * and the API returns all of its stored attempts.
 */
export const KEPT_ATTEMPTS = 50

/** Records an attempt at a delivery, and deletes the ones that are too old to keep. */
export async function insertAttempt(
  tx: Pick<Db, 'sql'>,
  { deliveryId, number, attempt }: { deliveryId: string; number: number; attempt: AttemptRecord },
): Promise<void> {
  const { at, ms, status, error, requestHeaders, responseHeaders, responseBody } = attempt
  await tx.sql
    .insertInto('delivery_attempts')
    .values({
      delivery_id: deliveryId,
      number,
      at,
      ms,
      status,
      error,
      request_headers: JSON.stringify(requestHeaders),
      response_headers: responseHeaders && JSON.stringify(responseHeaders),
      response_body: responseBody,
    })
    .execute()
  if (number <= KEPT_ATTEMPTS) return
  await tx.sql
    .deleteFrom('delivery_attempts')
    .where('delivery_id', '=', deliveryId)
    .where('number', '<=', number - KEPT_ATTEMPTS)
    .execute()
}

/**
 * Failures that are further apart do not count as one period of failing, because it is unknown what
 * happened in between. This is more than the longest delay between two attempts.
 */
export const MAX_FAILURE_GAP_MS = 20 * 3_600_000
/** While deliveries succeed, an endpoint's last success is recorded at most this often. */
const HEALTH_INTERVAL_MS = 60_000

async function recordHealth(
  tx: Db,
  endpointId: string,
  { at, failure }: { at: number; failure: string | null },
): Promise<void> {
  const change = tx.sql.updateTable('endpoints').where('id', '=', endpointId)
  if (failure !== null) {
    await change
      .set({
        failing_since: sql<number>`case when last_failure_at >= ${at - MAX_FAILURE_GAP_MS}
          and failing_since is not null then failing_since else ${at} end`,
        last_failure: failure,
        last_failure_at: at,
      })
      .execute()
    return
  }
  await change
    .set({ failing_since: null, last_success_at: at })
    .where((row) =>
      row.or([
        row('failing_since', 'is not', null),
        row('last_success_at', 'is', null),
        row('last_success_at', '<', at - HEALTH_INTERVAL_MS),
      ]),
    )
    .execute()
}

/** The deliveries that one transaction changes, so that others can write in between. */
const BATCH = 100

/** Why deliveries fail without a further attempt, and when. */
export type DeliveryFailure = { reason: string; at: number }

/** Fails everything still pending for an endpoint that is disabled or removed. */
export async function failEndpointDeliveries(
  db: Pick<Db, 'sql' | 'dialect'>,
  endpointId: string,
  failure: DeliveryFailure,
): Promise<void> {
  while (await failSomeDeliveries(db, endpointId, failure));
}

/**
 * Fails one batch of the pending deliveries of an endpoint; returns whether more may be left. The
 * statement itself checks that the endpoint is still disabled, so deliveries that are queued after
 * it was enabled are sent.
 */
export async function failSomeDeliveries(
  db: Pick<Db, 'sql' | 'dialect'>,
  endpointId: string,
  { reason, at }: DeliveryFailure,
): Promise<boolean> {
  const some = db.sql
    .selectFrom('deliveries')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where(isPending)
    .limit(BATCH)
    .modifyEnd(db.dialect.forUpdateSkipLocked('deliveries'))
  const { numUpdatedRows } = await db.sql
    .updateTable('deliveries')
    .set({ state: 'failed', reason, next_at: null, ended_at: at })
    .where('id', 'in', some)
    .where(sql<SqlBool>`not exists (select 1 from endpoints
      where id = ${endpointId} and disabled_at is null)`)
    .executeTakeFirst()
  return numUpdatedRows >= BATCH
}

/** The number of deleted deliveries, and the objects that nothing refers to any more. */
export type DeletedDeliveries = { deleted: number; objects: string[] }

/** Deletes all deliveries of a job, in the transaction that deletes the job. */
export function deleteJobDeliveries(tx: Db, jobId: string): Promise<DeletedDeliveries> {
  return deleteDeliveries(tx, sql<SqlBool>`job_id = ${jobId}`)
}

/**
 * Deletes one batch of deliveries that ended before a given time; if it deletes none, none are
 * left.
 */
export function deleteOldDeliveries(
  db: Db,
  { endedBefore }: { endedBefore: number },
): Promise<DeletedDeliveries> {
  return deleteWithObjects(db, async (tx) => {
    const some = sql<SqlBool>`id in (select id from deliveries
      where ended_at < ${endedBefore} and ended_at is not null order by ended_at limit ${BATCH})`
    return deleteDeliveries(tx, some)
  })
}

async function deleteDeliveries(
  tx: Db,
  condition: ReturnType<typeof sql<SqlBool>>,
): Promise<DeletedDeliveries> {
  // Without the lock, an attempt that is being recorded at the same time would remain.
  await tx.dialect.lockRows?.(tx, 'deliveries', condition)
  const { rows } = await sql<{ id: string }>`select body_object as id from deliveries
    where ${condition} and body_object is not null`.execute(tx.sql)
  await sql`delete from delivery_attempts
    where delivery_id in (select id from deliveries where ${condition})`.execute(tx.sql)
  const { numAffectedRows } = await sql`delete from deliveries where ${condition}`.execute(tx.sql)
  return { deleted: Number(numAffectedRows ?? 0), objects: rows.map(({ id }) => id) }
}

/** Converts a row to a delivery. */
export function toDelivery(row: Selectable<DeliveryRow>): Delivery {
  return {
    id: row.id,
    account: row.account,
    jobId: row.job_id,
    endpointId: row.endpoint_id,
    seq: row.seq,
    kind: row.kind,
    event: row.event,
    method: row.method,
    url: row.url,
    body: row.body,
    bodyObject: row.body_object,
    state: row.state,
    reason: row.reason,
    attemptsSinceQueued: row.tries,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAt: row.next_at,
    endedAt: row.ended_at,
    leaseEpoch: row.lease_epoch,
  }
}
