import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { DeliveryRow } from '../database/tables.ts'
import { type AttemptRecord, type Delivery, toDelivery } from './deliveries.ts'

/** A delivery by its id within an account. */
export type DeliveryId = { id: string; account: string }

/** Finds a delivery of an account. */
export async function findDelivery(
  db: Db,
  { id, account }: DeliveryId,
): Promise<Delivery | undefined> {
  const row = await db.sql
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('account', '=', account)
    .executeTakeFirst()
  return row && toDelivery(row)
}

/** The status of a delivery, in the words of the API. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

/** Selects deliveries of an account; all given conditions must hold. */
export type DeliveryFilter = {
  account: string
  jobId?: string | undefined
  endpointId?: string | undefined
  statuses?: readonly DeliveryStatus[] | undefined
  events?: readonly string[] | undefined
  /** Queued at this time or later, in milliseconds since 1970. */
  from?: number | undefined
  /** Queued before this time. */
  before?: number | undefined
}

/** A delivery without its body, which may be long. */
export type LoggedDelivery = Omit<Delivery, 'body' | 'bodyObject'>

const loggedColumns = [
  'id',
  'account',
  'job_id',
  'endpoint_id',
  'seq',
  'kind',
  'event',
  'method',
  'url',
  'state',
  'reason',
  'tries',
  'attempts',
  'created_at',
  'next_at',
  'ended_at',
  'lease_epoch',
] as const satisfies (keyof DeliveryRow)[]

/** Returns deliveries of an account, newest first, and whether more follow. */
export async function listDeliveries(
  db: Db,
  filter: DeliveryFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ deliveries: LoggedDelivery[]; more: boolean }> {
  const { account, jobId, endpointId, statuses = [], events = [], from, before } = filter
  let query = db.reader
    .selectFrom('deliveries')
    .select(loggedColumns)
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .offset(offset)
  if (jobId === undefined) {
    query = query.where('account', '=', account)
  } else {
    // The index on the account has the order of the list, but would read all of its deliveries.
    const ofAccount = sql<SqlBool>`${db.dialect.withoutIndex('account')} = ${account}`
    query = query.where(ofAccount).where('job_id', '=', jobId)
  }
  if (endpointId !== undefined) query = query.where('endpoint_id', '=', endpointId)
  if (statuses.length > 0) {
    const states = statuses.flatMap((status) => {
      return status === 'pending' ? (['due', 'waiting'] as const) : [status]
    })
    query = query.where('state', 'in', states)
  }
  if (events.length > 0) query = query.where('event', 'in', events)
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (before !== undefined) query = query.where('created_at', '<', before)
  const rows = await query.execute()
  return { deliveries: rows.slice(0, limit).map(toLogged), more: rows.length > limit }
}

function toLogged(row: Pick<Selectable<DeliveryRow>, (typeof loggedColumns)[number]>) {
  const unselected = { body: null, body_object: null, lease_owner: null, lease_until: null }
  const { body: _, bodyObject: __, ...logged } = toDelivery({ ...row, ...unselected })
  return logged
}

/** One attempt, counted from 1. */
export type LoggedAttempt = AttemptRecord & { number: number }

/** Returns the stored attempts at each of the given deliveries, earliest first. */
export async function findAttempts(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, LoggedAttempt[]>> {
  const attempts = new Map<string, LoggedAttempt[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return attempts
  const rows = await db.reader
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id')
    .orderBy('number')
    .execute()
  for (const row of rows) {
    attempts.get(row.delivery_id)!.push({
      number: row.number,
      at: row.at,
      ms: row.ms,
      status: row.status,
      error: row.error,
      requestHeaders: JSON.parse(row.request_headers),
      responseHeaders: row.response_headers === null ? null : JSON.parse(row.response_headers),
      responseBody: row.response_body,
    })
  }
  return attempts
}
