import type { Db } from '../database/db.ts'

/** Queues a job for indexing, because its words have changed. */
export async function queueForSearch(tx: Db, jobId: string): Promise<void> {
  await tx.sql
    .insertInto('search_queue')
    .values({ job_id: jobId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
