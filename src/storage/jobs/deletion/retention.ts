import type { Db } from '../../database/db.ts'
import { deleteWithObjects } from '../../objects/delete-with-objects.ts'
import { deleteEndedJob } from './delete-job.ts'

/** The jobs that one transaction deletes, so that others can write in between. */
const BATCH = 100

/**
 * The deleted jobs of a batch, and the objects that lost their last row, which the caller must
 * delete.
 */
export type ExpiredJobs = { ids: string[]; objects: string[] }

/**
 * Deletes one batch of jobs that ended before a given time, oldest first; if it returns no ids,
 * none are left. If a crash prevents the deletion of an object, the next start removes it.
 */
export function deleteExpiredJobs(
  db: Db,
  { endedBefore }: { endedBefore: number },
): Promise<ExpiredJobs> {
  return deleteWithObjects(db, async (tx) => {
    const jobs = await tx.sql
      .selectFrom('jobs')
      .select(['id', 'account'])
      .where('completed_at', '<', endedBefore)
      .where('completed_at', 'is not', null)
      .orderBy('completed_at')
      .limit(BATCH)
      .execute()
    const objects: string[] = []
    for (const job of jobs) {
      const deleted = await deleteEndedJob(tx, job)
      objects.push(...(deleted?.objects ?? []))
    }
    return { ids: jobs.map(({ id }) => id), objects }
  })
}
