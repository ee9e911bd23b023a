import { sql } from 'kysely'
import { recordJobUsage, usageColumns } from '../accounts/usage/usage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { endedJobColumns, queueJobEnd } from '../deliveries/queue-deliveries.ts'
import { endedColumns, type JobFailure } from './finish-job.ts'
import type { JobRef } from './jobs.ts'

/**
 * Ends a recorded job that has not ended, waiting or running, and queues its notifications, in one
 * transaction. An attempt that is under way loses its lease. Returns false if there is no such job.
 */
export function cancelRecordedJob(
  db: Db,
  { id, account }: JobRef,
  { failure, at }: { failure: JobFailure; at: number },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const job = await tx.sql
      .updateTable('jobs')
      .where('id', '=', id)
      .where('account', '=', account)
      .where('kind', '=', 'pre-recorded')
      .where('status', 'in', ['queued', 'processing'])
      .set({
        ...endedColumns(at),
        status: 'error',
        error_code: failure.code,
        lease_epoch: sql<number>`lease_epoch + 1`,
        post_session_metadata: JSON.stringify({ failure }),
      })
      .returning([...endedJobColumns, ...usageColumns])
      .executeTakeFirst()
    if (!job) return false
    await queueJobEnd(tx, job, { at })
    await recordJobUsage(tx, job)
    return true
  })
}
