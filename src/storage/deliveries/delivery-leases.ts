import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import { isAbandoned } from '../database/nodes/register-node.ts'
import type { DeliveryRow } from '../database/tables.ts'
import { type Delivery, toDelivery } from './deliveries.ts'

/** Selects the due deliveries of an endpoint to lease, and for how long. */
export type TakeOptions = {
  endpointId: string
  now: number
  limit: number
  /** The length of the lease, which the clock of the database measures. */
  leaseMs: number
  /**
   * The ids of the deliveries that this process has leased and not finished yet, however old their
   * leases are.
   */
  inFlight: readonly string[]
}

/**
 * The condition that no process sends a delivery: its lease has ended, or its owner is dead, or
 * this process owns it and does not have it in flight. A process knows what it has in flight, so an
 * attempt that was cut off needs no other write.
 */
function isUnleasedDelivery({ dialect, nodeId }: Db, inFlight: readonly string[]) {
  const isOver = sql<SqlBool>`(lease_until is null or lease_until < ${dialect.now()}
    or lease_owner = ${nodeId} or ${isAbandoned})`
  return sql<SqlBool>`(${isOver} and not (${dialect.isIn(sql.ref('id'), inFlight)}))`
}

/**
 * Leases the next deliveries for an endpoint, in the order in which they are due: each belongs to a
 * different sequence, and there are none if the endpoint is disabled. One statement leases them to
 * `db.nodeId`, so two senders never hold the same one.
 */
export async function leaseDueDeliveries(
  db: Db,
  { endpointId, now, limit, leaseMs, inFlight }: TakeOptions,
): Promise<Delivery[]> {
  const due = db.sql
    .selectFrom('deliveries')
    .select('id')
    .where('state', '=', sql.lit('due'))
    .where('endpoint_id', '=', endpointId)
    .where('next_at', '<=', now)
    .where(isUnleasedDelivery(db, inFlight))
    // The endpoint may have been disabled since the caller read it.
    .where(sql<SqlBool>`not exists (select 1 from endpoints
      where id = ${endpointId} and disabled_at is not null)`)
    .orderBy('next_at')
    .orderBy('created_at')
    .limit(limit)
  // An endpoint without a delivery to lease costs no write.
  if (!(await due.executeTakeFirst())) return []
  const rows = await db.sql
    .updateTable('deliveries')
    .set((row) => ({
      lease_owner: db.nodeId,
      lease_epoch: row('lease_epoch', '+', 1),
      lease_until: sql<number>`${db.dialect.now()} + ${leaseMs}`,
    }))
    .where('id', 'in', due.modifyEnd(db.dialect.forUpdateSkipLocked('deliveries')))
    .returningAll()
    .execute()
  return rows.toSorted(compareDueTimes).map(toDelivery)
}

type DeliveryOrder = Pick<DeliveryRow, 'next_at' | 'created_at'>

function compareDueTimes(a: DeliveryOrder, b: DeliveryOrder): number {
  return a.next_at! - b.next_at! || a.created_at - b.created_at
}

/** Extends the leases of deliveries that this process still sends. */
export async function renewDeliveries(
  db: Db,
  ids: readonly string[],
  { leaseMs }: { leaseMs: number },
): Promise<void> {
  if (ids.length === 0) return
  await db.sql
    .updateTable('deliveries')
    .set({ lease_until: sql<number>`${db.dialect.now()} + ${leaseMs}` })
    .where(db.dialect.isIn(sql.ref('id'), ids))
    .where('lease_owner', '=', db.nodeId)
    .execute()
}

/**
 * Returns when the first delivery for an endpoint that no process sends is due; undefined if there
 * is none.
 */
export async function findNextDueDelivery(
  db: Db,
  { endpointId, inFlight }: Pick<TakeOptions, 'endpointId' | 'inFlight'>,
): Promise<number | undefined> {
  const row = await db.sql
    .selectFrom('deliveries')
    .select('next_at')
    .where('state', '=', sql.lit('due'))
    .where('endpoint_id', '=', endpointId)
    .where(isUnleasedDelivery(db, inFlight))
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst()
  return row?.next_at ?? undefined
}
