import { type SqlBool, sql } from 'kysely'
import { type Db, inTransaction } from '../db.ts'
import { isPending } from '../deliveries/delivery-outbox.ts'
import { deleteFileWithoutJobs } from '../objects/files.ts'
import { deleteEndedJob, type JobId } from './jobs.ts'

/** Jobs changed per transaction, so that others can write in between. */
const BATCH = 100

/** Worded like the index on jobs that have ended and of which nothing is kept. */
const hasEnded = sql<SqlBool>`(zero_retention = 1 and completed_at is not null)`

/** Rows of this job's deliveries with a condition. */
function deliveries(condition: ReturnType<typeof sql>) {
  return sql<SqlBool>`exists (select 1 from deliveries
    where deliveries.job_id = jobs.id and ${condition})`
}

/** A callback has accepted the end of the job; that of a session, its whole result. */
const isAccepted = deliveries(sql`state = 'delivered' and (kind = 'callback'
  or (kind = 'live' and event = 'live.post_final_transcript'))`)
const isCallbackPending = deliveries(sql`${isPending} and kind <> 'webhook'`)

/**
 * Notes when the owner has read the result of a job of which nothing is kept. Returns whether there
 * is such a job, and it has ended.
 */
export async function noteDelivered(
  db: Db,
  { id, account }: Pick<JobId, 'id' | 'account'>,
  { at }: { at: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db.sql
    .updateTable('jobs')
    .set((job) => ({ delivered_at: job.fn.coalesce('delivered_at', sql.lit(at)) }))
    .where('id', '=', id)
    .where('account', '=', account)
    .where(hasEnded)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Which jobs may go: one, or all; and those that nobody has read since they ended by this time. */
export type DeliveredOptions = { id?: string; waitedSince?: number }

/**
 * Deletes ended jobs of which nothing is kept: those whose result a callback has accepted or the
 * owner has read, as soon as no notification is under way, and those that ended before `waitedSince`
 * unless a callback is still tried. Returns their ids. If a crash prevents the deletion of objects,
 * the next start removes them.
 */
export async function deleteDeliveredJobs(
  db: Db,
  options: DeliveredOptions = {},
): Promise<string[]> {
  const deleted: string[] = []
  for (;;) {
    const { ids, objects } = await deleteSome(db, options)
    if (ids.length === 0) break
    deleted.push(...ids)
    for (const object of objects) await db.objects.delete(object)
  }
  if (deleted.length > 0) await db.dialect.scrub?.(db)
  return deleted
}

function deleteSome(
  db: Db,
  { id, waitedSince = 0 }: DeliveredOptions,
): Promise<{ ids: string[]; objects: string[] }> {
  const isDelivered = sql<SqlBool>`((delivered_at is not null or ${isAccepted})
    and not ${deliveries(isPending)})`
  const hasWaited = sql<SqlBool>`(completed_at < ${waitedSince} and not ${isCallbackPending})`
  return inTransaction(db, async (tx) => {
    const jobs = await tx.sql
      .selectFrom('jobs')
      .select(['id', 'account'])
      .where(hasEnded)
      .where(sql<SqlBool>`(${isDelivered} or ${hasWaited})`)
      .$if(id !== undefined, (query) => query.where('id', '=', id!))
      .orderBy('completed_at')
      .limit(BATCH)
      .execute()
    const deleted = { ids: [] as string[], objects: [] as string[] }
    for (const job of jobs) {
      const gone = await deleteEndedJob(tx, job)
      if (!gone) continue
      deleted.ids.push(job.id)
      deleted.objects.push(...gone.objects)
    }
    return deleted
  })
}

/**
 * Deletes the recordings of ended jobs of which nothing is kept, or of one of them, unless another
 * job uses them. Returns how many. If a crash prevents the deletion of an object, the next start
 * removes it.
 */
export async function deleteEndedRecordings(db: Db, { id }: { id?: string } = {}): Promise<number> {
  const unused = await inTransaction(db, async (tx) => {
    const files = await tx.sql
      .selectFrom('jobs')
      .innerJoin('files', 'files.id', 'jobs.file_id')
      .select('files.id')
      .distinct()
      .where(hasEnded)
      .$if(id !== undefined, (query) => query.where('jobs.id', '=', id!))
      .execute()
    const unused: string[] = []
    for (const file of files) {
      if (await deleteFileWithoutJobs(tx, file.id)) unused.push(file.id)
    }
    return unused
  })
  for (const object of unused) await db.objects.delete(object)
  return unused.length
}
