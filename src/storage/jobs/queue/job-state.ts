import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'
import type { JobRow } from '../../database/tables.ts'
import type { JobRef, JobStatus } from '../jobs.ts'
import { type Lease, updateLeasedJob } from './lease.ts'

/** The progress of a running job. It is lost when the job ends or returns to the queue. */
export type JobProgress = {
  stage: string
  /** The completed fraction of the whole job, from 0 to 1. */
  fraction: number
  secondsLeft: number | null
}

/** Records the progress of a job; changes nothing if the lease was lost. */
export async function recordProgress(db: Db, lease: Lease, progress: JobProgress): Promise<void> {
  await updateLeasedJob(db, lease)
    .set({
      progress_stage: progress.stage,
      progress_fraction: progress.fraction,
      progress_seconds_left: progress.secondsLeft,
    })
    .execute()
}

/** The state of a job, and its progress while a process works on it. */
export type JobState = { status: JobStatus; progress: JobProgress | undefined }

type StateRow = Pick<
  JobRow,
  'kind' | 'status' | 'progress_stage' | 'progress_fraction' | 'progress_seconds_left'
>

const selectState = statement<Pick<JobRef, 'id' | 'account'>, StateRow>(
  ({ id, account }) =>
    sql`select kind, status, progress_stage, progress_fraction, progress_seconds_left
      from jobs where id = ${id} and account = ${account}`,
)

/** Returns the state of a job of one account, undefined if there is none. */
export async function findJobState(
  db: Db,
  { id, account, kind }: JobRef,
): Promise<JobState | undefined> {
  const [row] = await selectState(db, { id, account })
  if (!row || (kind !== undefined && row.kind !== kind)) return undefined
  const progress = row.progress_stage
    ? {
        stage: row.progress_stage,
        fraction: row.progress_fraction ?? 0,
        secondsLeft: row.progress_seconds_left,
      }
    : undefined
  return { status: row.status, progress }
}
