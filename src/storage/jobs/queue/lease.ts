import { sql, type UpdateObject } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { Tables } from '../../database/tables.ts'

/** The right to write to a job. It ends as soon as another claim increments the epoch. */
export type Lease = { id: string; epoch: number }

/**
 * Extends a lease to `leaseMs` from now, by the clock of the database; returns false if it was
 * lost, and then the owner must stop.
 */
export async function renewLease(
  db: Db,
  lease: Lease,
  { leaseMs }: { leaseMs: number },
): Promise<boolean> {
  return changeJob(db, lease, { lease_until: sql<number>`${db.dialect.now()} + ${leaseMs}` })
}

/** Returns whether a lease is still the newest one of a job that is being processed. */
export async function hasLease(db: Db, { id, epoch }: Lease): Promise<boolean> {
  const job = await db.sql
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .where('status', '=', 'processing')
    .executeTakeFirst()
  return job !== undefined
}

/**
 * Requeues a job for another attempt. Returns false, and changes nothing, if the lease was lost.
 */
export async function retryJob(
  db: Db,
  lease: Lease,
  { runAfter }: { runAfter: number },
): Promise<boolean> {
  return changeJob(db, lease, { ...waiting, run_after: runAfter })
}

/**
 * Requeues a job as if this attempt had not begun, with the time since which it has waited for
 * space, if any. Returns false, and changes nothing, if the lease was lost.
 */
export async function releaseJob(
  db: Db,
  lease: Lease,
  { runAfter, spaceWaitSince }: { runAfter: number; spaceWaitSince?: number | undefined },
): Promise<boolean> {
  const result = await updateLeasedJob(db, lease)
    .set({ ...waiting, run_after: runAfter })
    .set((row) => ({ attempt: row('attempt', '-', 1) }))
    .$if(spaceWaitSince !== undefined, (query) =>
      query.set({ storage_wait_since: spaceWaitSince! }),
    )
    .executeTakeFirst()
  if (result.numUpdatedRows === 1n) db.jobNotifier?.notify()
  return result.numUpdatedRows === 1n
}

/** The columns to clear when no process works on a job. */
export const idleColumns = {
  lease_owner: null,
  lease_until: null,
  progress_stage: null,
  progress_fraction: null,
  progress_seconds_left: null,
}
const waiting = { ...idleColumns, status: 'queued' } as const

type JobRowChange = UpdateObject<Tables, 'jobs', 'jobs'>

async function changeJob(db: Db, lease: Lease, change: JobRowChange): Promise<boolean> {
  const result = await updateLeasedJob(db, lease).set(change).executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** An update that changes a row only under the newest lease of the job. */
export function updateLeasedJob(db: Db, { id, epoch }: Lease) {
  return db.sql
    .updateTable('jobs')
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .where('status', '=', 'processing')
}
