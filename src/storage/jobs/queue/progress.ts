import type { Db } from '../../database/db.ts'
import type { JobId } from '../jobs.ts'
import { type Lease, whereLeased } from './lease.ts'

/**
 * The progress of a running job. Best effort: dropped when the job ends or returns to the queue.
 */
export type JobProgress = {
  stage: string
  /** 0 to 1, of the whole job. */
  fraction: number
  secondsLeft: number | null
}

/** Records the progress of a job; changes nothing if the lease was lost. */
export async function recordProgress(db: Db, lease: Lease, progress: JobProgress): Promise<void> {
  await whereLeased(db, lease)
    .set({
      progress_stage: progress.stage,
      progress_fraction: progress.fraction,
      progress_seconds_left: progress.secondsLeft,
    })
    .execute()
}

/** Returns the progress of a job; undefined if there is no such job or nobody works on it. */
export async function findProgress(
  db: Db,
  { id, account }: Pick<JobId, 'id' | 'account'>,
): Promise<JobProgress | undefined> {
  const row = await db.sql
    .selectFrom('jobs')
    .select(['progress_stage', 'progress_fraction', 'progress_seconds_left'])
    .where('id', '=', id)
    .where('account', '=', account)
    .executeTakeFirst()
  if (!row?.progress_stage) return undefined
  return {
    stage: row.progress_stage,
    fraction: row.progress_fraction ?? 0,
    secondsLeft: row.progress_seconds_left,
  }
}
