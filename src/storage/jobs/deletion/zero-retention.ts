import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { isPending } from '../../deliveries/queue-deliveries.ts'
import { deleteWithObjects } from '../../objects/delete-with-objects.ts'
import { deleteRecordingWithoutJobs } from '../../recordings/recordings.ts'
import type { JobRef } from '../jobs.ts'
import { deleteEndedJob } from './delete-job.ts'

/** The jobs that one statement looks up, so that others can write in between. */
const BATCH = 100

/** The events of callbacks whose body is the whole result. */
const RESULT_EVENTS = [
  'transcription.success',
  'transcription.error',
  'live.post_final_transcript',
] as const

/**
 * Selects the zero-retention jobs to check, and the time before which unread results are deleted,
 * too.
 */
export type DeliveredJobOptions = {
  /** Checks only this job; undefined means all jobs. */
  id?: string | undefined
  /** Jobs that ended at this time or earlier have waited long enough; by default, no job has. */
  waitedSince?: number
}

/**
 * Deletes the zero-retention jobs whose deletion is due: either the result was read or accepted by
 * a callback and no notification is pending, or the job has waited long enough and no callback is
 * pending. Returns their ids. Objects are deleted before the row that refers to them, so that after
 * a crash they are found and deleted again.
 */
export async function deleteDeliveredJobs(
  db: Db,
  options: DeliveredJobOptions = {},
): Promise<string[]> {
  const deleted: string[] = []
  for (;;) {
    const jobs = await findDeliveredJobs(db, options)
    for (const job of jobs) {
      for (const object of await listObjects(db, job.id)) await db.objects.delete(object)
      const gone = await deleteWithObjects(db, (tx) => deleteEndedJob(tx, job))
      await db.deletions.delete(gone?.objects ?? [])
      deleted.push(job.id)
    }
    if (jobs.length < BATCH) break
  }
  if (deleted.length > 0) await db.dialect.eraseDeletedRows(db)
  return deleted
}

type DeliveredJob = { id: string; account: string }

async function findDeliveredJobs(
  db: Db,
  { id, waitedSince = 0 }: DeliveredJobOptions,
): Promise<DeliveredJob[]> {
  const { rows } = await sql<DeliveredJob>`
    select id, account from jobs where ${isEndedZeroRetention(id)}
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

/** The condition for zero-retention jobs that have ended, worded like that of their index. */
function isEndedZeroRetention(id: string | undefined) {
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
 * Deletes the recordings of zero-retention jobs that have ended, unless another job uses them.
 * Returns how many.
 */
export async function deleteEndedRecordings(
  db: Db,
  { id }: Pick<DeliveredJobOptions, 'id'> = {},
): Promise<number> {
  const { rows } = await sql<{ file: string }>`
    select distinct file_id as file from jobs where ${isEndedZeroRetention(id)}
      and exists (select 1 from files where files.id = jobs.file_id)`.execute(db.sql)
  let deleted = 0
  for (const { file } of rows) {
    const { objects } = await deleteWithObjects(db, async (tx) => {
      return { objects: (await deleteRecordingWithoutJobs(tx, file)) ? [file] : [] }
    })
    await db.deletions.delete(objects)
    deleted += objects.length
  }
  return deleted
}

/**
 * Records that the account of a job has read its result. Returns false, and changes nothing, unless
 * it is a zero-retention job that has ended.
 */
export async function markResultDelivered(
  db: Db,
  { id, account }: Pick<JobRef, 'id' | 'account'>,
  { at }: { at: number },
): Promise<boolean> {
  const isOfAccount = sql<SqlBool>`(${isEndedZeroRetention(id)} and account = ${account})`
  // Most jobs are not of this kind, and reading one must cost no write.
  const endedJob = await db.reader
    .selectFrom('jobs')
    .select('id')
    .where(isOfAccount)
    .executeTakeFirst()
  if (!endedJob) return false
  const { numUpdatedRows } = await db.sql
    .updateTable('jobs')
    .set({ delivered_at: at })
    .where(isOfAccount)
    .where('delivered_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
