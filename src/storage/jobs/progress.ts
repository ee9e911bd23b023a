import type { Db } from '../db.ts'
import type { JobId } from './jobs.ts'
import { type Lease, whereLeased } from './lease.ts'

/** How far a job in hand is; best effort, forgotten when the job ends or goes back to the queue. */
export type JobProgress = {
  stage: string
  /** 0 to 1, of the whole job. */
  fraction: number
  secondsLeft: number | null
}

/** Notes how far a job is; changes nothing when the lease was lost. */
export async function recordProgress(db: Db, lease: Lease, progress: JobProgress): Promise<void> {
  await whereLeased(db, lease)
    .set({
      progress_stage: progress.stage,
      progress_fraction: progress.fraction,
      progress_seconds_left: progress.secondsLeft,
    })
    .execute()
}

/** How far a job is; undefined when there is no such job or nobody works on it. */
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
