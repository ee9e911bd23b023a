import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { deleteEndedRecordings } from '../../storage/jobs/deletion/zero-retention.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import { findRecording } from '../../storage/recordings/recordings.ts'

type DeleteDeps = { db: Db; log: Log }

/**
 * Deletes the original recording of a job that ended with a redacted one, unless other jobs use it.
 */
export async function deleteOriginal(
  { db, log }: DeleteDeps,
  { account, file: { id } }: ClaimedJob,
): Promise<void> {
  try {
    if (!(await findRecording(db, { id, account }))) await db.deletions.delete([id])
  } catch (error) {
    log.error({ err: error }, 'cannot delete the original recording')
  }
}

/**
 * Deletes the recording of an ended zero-retention job; a failure is logged, and maintenance
 * retries.
 */
export async function deleteRecordings({ db, log }: DeleteDeps, jobId: string): Promise<void> {
  await deleteEndedRecordings(db, { id: jobId }).catch((error) => {
    log.error({ err: error, jobId }, 'cannot delete the recording')
  })
}
