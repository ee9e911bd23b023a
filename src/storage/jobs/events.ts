import { sql } from 'kysely'
import type { DialectQueryable } from '../database/db.ts'
import type { EventRow } from '../database/tables.ts'

/** The position of an event in the order of all events. */
export type EventCursor = Pick<StoredEvent, 'tx' | 'seq'>

/** An event of a job or a delivery. */
export type StoredEvent = {
  tx: number
  seq: number
  account: string
  kind: EventRow['kind']
  jobId: string | null
  deliveryId: string | null
  status: string
  /** Milliseconds since 1970. */
  at: number
}

/**
 * Returns the events after a position, in order: those of one account, or of all. An event that is
 * written later never comes before one that was returned.
 */
export async function readEventsAfter(
  { sql: db, dialect }: DialectQueryable,
  { tx, seq }: EventCursor,
  { account, limit }: { account?: string; limit: number },
): Promise<StoredEvent[]> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where(sql<boolean>`(tx, seq) > (${tx}, ${seq})`)
    .where(dialect.isNoLowerNumberPending('tx'))
  if (account !== undefined) query = query.where('account', '=', account)
  const rows = await query.orderBy('tx').orderBy('seq').limit(limit).execute()
  return rows.map(({ job_id: jobId, delivery_id: deliveryId, ...row }) => {
    return { ...row, jobId, deliveryId }
  })
}

/** Returns the position of the last event. */
export async function lastEventCursor({
  sql: db,
  dialect,
}: DialectQueryable): Promise<EventCursor> {
  const row = await db
    .selectFrom('events')
    .select(['tx', 'seq'])
    .where(dialect.isNoLowerNumberPending('tx'))
    .orderBy('tx', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? { tx: 0, seq: 0 }
}

/** Deletes the events from before a time, in milliseconds since 1970. */
export async function deleteEvents(
  { sql: db }: DialectQueryable,
  { before }: { before: number },
): Promise<void> {
  await db.deleteFrom('events').where('at', '<', before).execute()
}
