import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { DeliveryRow } from '../database/tables.ts'
import { isAbandoned } from '../nodes/owners.ts'
import { type Delivery, toDelivery } from './deliveries.ts'

/** Which deliveries to take, and for how long: those of an endpoint that are due. */
export type TakeOptions = {
  endpointId: string
  now: number
  limit: number
  /** The length of the lease, which the clock of the database measures. */
  leaseMs: number
  /** Ids of those that this process has taken and not settled yet, however old their lease. */
  inFlight: readonly string[]
}

/**
 * No process sends it: its lease has ended, or its owner is dead, or is this process, which tracks
 * what it has in flight: an attempt that was cut off needs no other write.
 */
function isUnleasedDelivery({ dialect, owner }: Db, inFlight: readonly string[]) {
  const isOver = sql<SqlBool>`(lease_until is null or lease_until < ${dialect.now()}
    or lease_owner = ${owner} or ${isAbandoned})`
  return sql<SqlBool>`(${isOver} and not (${dialect.isIn(sql.ref('id'), inFlight)}))`
}

/**
 * Takes the next deliveries for an endpoint, in the order they are due; each of a different
 * sequence, and none if the endpoint is disabled. One statement leases them to `db.owner`, so two
 * senders never hold the same one.
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
    // It may have been disabled since the caller read it.
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
      lease_owner: db.owner,
      lease_epoch: row('lease_epoch', '+', 1),
      lease_until: sql<number>`${db.dialect.now()} + ${leaseMs}`,
    }))
    .where('id', 'in', due.modifyEnd(db.dialect.forUpdateSkipLocked('deliveries')))
    .returningAll()
    .execute()
  return rows.toSorted(byTurn).map(toDelivery)
}

type DeliveryOrder = Pick<DeliveryRow, 'next_at' | 'created_at'>

function byTurn(a: DeliveryOrder, b: DeliveryOrder): number {
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
    .where('lease_owner', '=', db.owner)
    .execute()
}

/** Returns the first time at which a delivery is due for an endpoint that no process sends to. */
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
