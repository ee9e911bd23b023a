import { type Db, inTransaction } from '../db.ts'
import { deleteEndedJob } from './jobs.ts'

/** So many jobs are deleted in one transaction: others can write between two. */
const BATCH = 100

/** What a batch removed: the jobs, and the objects that lost their last row, for the caller to delete. */
export type ExpiredJobs = { ids: string[]; objects: string[] }

/**
 * Deletes jobs that ended before a moment, oldest first, some at a time; none are left when it returns
 * no ids. An object whose deletion a crash prevents is removed by the next start.
 */
export function deleteExpiredJobs(
  db: Db,
  { endedBefore }: { endedBefore: number },
): Promise<ExpiredJobs> {
  return inTransaction(db, async (tx) => {
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
