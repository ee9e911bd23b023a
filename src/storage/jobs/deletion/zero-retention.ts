import { type SqlBool, sql } from 'kysely'
import { type Db, inTransaction } from '../../database/db.ts'
import { isPending } from '../../deliveries/queue-deliveries.ts'
import { deleteRecordingWithoutJobs } from '../../objects/recordings.ts'
import type { JobId } from '../jobs.ts'
import { deleteEndedJob } from './delete-job.ts'

/** Jobs looked up per statement, so that others can write in between. */
const BATCH = 100

/** The events of callbacks whose body is the whole result. */
const RESULT_EVENTS = [
  'transcription.success',
  'transcription.error',
  'live.post_final_transcript',
] as const

/** Which jobs to check, and the time before which unread results are deleted too. */
export type ConsumedJobOptions = {
  /** One job; all when absent. */
  id?: string | undefined
  /** What ended at this time or earlier has waited long enough; default: nothing. */
  waitedSince?: number
}

/**
 * Deletes the jobs of which nothing is kept, where that is due: the result was read or accepted by
 * a callback, and nobody else is to be notified; or it has waited long enough and no callback is
 * under way. Returns their ids. Objects go before the row that names them, so what a crash cuts off
 * is found and deleted again.
 */
export async function deleteDeliveredJobs(
  db: Db,
  options: ConsumedJobOptions = {},
): Promise<string[]> {
  const deleted: string[] = []
  for (;;) {
    const jobs = await findConsumed(db, options)
    for (const job of jobs) {
      for (const object of await listObjects(db, job.id)) await db.objects.delete(object)
      const gone = await inTransaction(db, (tx) => deleteEndedJob(tx, job))
      await db.deletions.delete(gone?.objects ?? [])
      deleted.push(job.id)
    }
    if (jobs.length < BATCH) break
  }
  if (deleted.length > 0) await db.dialect.eraseDeletedRows(db)
  return deleted
}

type ConsumedJob = { id: string; account: string }

async function findConsumed(
  db: Db,
  { id, waitedSince = 0 }: ConsumedJobOptions,
): Promise<ConsumedJob[]> {
  const { rows } = await sql<ConsumedJob>`
    select id, account from jobs where ${isEnded(id)}
      and not exists (select 1 from deliveries
        where job_id = jobs.id and kind <> 'webhook' and ${isPending})
      and (completed_at <= ${waitedSince} or (
        (delivered_at is not null or exists (select 1 from deliveries
          where job_id = jobs.id and kind <> 'webhook' and state = 'delivered'
            and event in (${sql.join(RESULT_EVENTS)})))
        and not exists (select 1 from deliveries where job_id = jobs.id and ${isPending})))
    order by completed_at limit ${BATCH}`.execute(db.sql)
  return rows
}

/** Worded like the index on these jobs. */
function isEnded(id: string | undefined) {
  const isWanted = id === undefined ? sql`` : sql`and id = ${id}`
  return sql<SqlBool>`(zero_retention = 1 and completed_at is not null ${isWanted})`
}

/** Returns the objects that only this job refers to. */
async function listObjects(db: Db, id: string): Promise<string[]> {
  const { rows } = await sql<{ object: string | null }>`
    select result_object as object from jobs where id = ${id}
    union all select redacted_object from jobs where id = ${id}
    union all select body_object from deliveries where job_id = ${id}`.execute(db.sql)
  return rows.flatMap(({ object }) => object ?? [])
}

/**
 * Deletes the recordings of jobs of which nothing is kept, once they have ended, unless another job
 * uses them. Returns how many.
 */
export async function deleteEndedRecordings(
  db: Db,
  { id }: Pick<ConsumedJobOptions, 'id'> = {},
): Promise<number> {
  const { rows } = await sql<{ file: string }>`
    select distinct file_id as file from jobs where ${isEnded(id)}
      and exists (select 1 from files where files.id = jobs.file_id)`.execute(db.sql)
  let deleted = 0
  for (const { file } of rows) {
    if (!(await inTransaction(db, (tx) => deleteRecordingWithoutJobs(tx, file)))) continue
    await db.deletions.delete([file])
    deleted++
  }
  return deleted
}

/**
 * Notes that the owner of a job has read its result; returns false, and changes nothing, unless it
 * is an ended job of which nothing is kept.
 */
export async function markResultDelivered(
  db: Db,
  { id, account }: Pick<JobId, 'id' | 'account'>,
  { at }: { at: number },
): Promise<boolean> {
  const isMine = sql<SqlBool>`(${isEnded(id)} and account = ${account})`
  // Most jobs are kept, and reading one costs no write.
  const consumedJob = await db.reader
    .selectFrom('jobs')
    .select('id')
    .where(isMine)
    .executeTakeFirst()
  if (!consumedJob) return false
  const { numUpdatedRows } = await db.sql
    .updateTable('jobs')
    .set({ delivered_at: at })
    .where(isMine)
    .where('delivered_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
