import { type SqlBool, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { FileRow } from '../database/tables.ts'
import { deleteWithObjects } from '../objects/delete-with-objects.ts'

/** A recording whose bytes are the object with the same id. */
export type StoredRecording = {
  id: string
  account: string
  filename: string | null
  /** The URL it was fetched from; null for an upload. */
  source: string | null
  /** The file extension of the detected container, without the dot. */
  extension: string
  size: number
  duration: number | null
  channels: number | null
  /** Milliseconds since 1970. */
  createdAt: number
}

/** Registers a stored object as a recording of its account. */
export async function insertRecording(db: Db, recording: StoredRecording): Promise<void> {
  const { createdAt, ...columns } = recording
  await db.sql
    .insertInto('files')
    .values({ ...columns, created_at: createdAt })
    .execute()
}

/** Finds a recording of one account; treats another account's recording as missing. */
export async function findRecording(
  db: Db,
  { id, account }: Pick<StoredRecording, 'id' | 'account'>,
): Promise<StoredRecording | undefined> {
  const row = await db.sql
    .selectFrom('files')
    .selectAll()
    .where('id', '=', id)
    .where('account', '=', account)
    .executeTakeFirst()
  return row && toRecording(row)
}

/** The period in which recordings were stored; the end is not included. */
export type Period = { from: number; to: number }

/** The recordings that one statement checks, so that others can write in between. */
const RECORDINGS_PER_STATEMENT = 1000

/**
 * Deletes the rows of recordings that no job uses, from the start of a period up to the time `to`
 * that it returns with their ids. A job that is created at the same time either keeps its recording
 * or does not find it.
 */
export async function deleteUnusedRecordings(
  db: Db,
  { from, to }: Period,
): Promise<{ ids: string[]; to: number }> {
  const { rows: ends } = await sql<{ created_at: number }>`
    select created_at from files where created_at >= ${from} and created_at < ${to}
    order by created_at limit 1 offset ${RECORDINGS_PER_STATEMENT}`.execute(db.sql)
  // Recordings with the same timestamp are never separated, or the next period would miss some.
  const end = ends[0] ? Math.max(ends[0].created_at, from + 1) : to
  const isUnused = sql<SqlBool>`(created_at >= ${from} and created_at < ${end}
    and not exists (select 1 from jobs where jobs.file_id = files.id))`
  const { objects } = await deleteWithObjects(db, async (tx) => {
    await tx.dialect.lockRows?.(tx, 'files', isUnused)
    const { rows } = await sql<{ id: string }>`
      delete from files where ${isUnused} returning id`.execute(tx.sql)
    return { objects: rows.map(({ id }) => id) }
  })
  return { ids: objects, to: end }
}

/**
 * Deletes the row of a recording unless a job still uses it; returns whether nothing uses it now. A
 * job with a redacted recording still stores the id of the original, but does not keep it; nor does
 * a zero-retention job that has ended.
 */
export async function deleteRecordingWithoutJobs(tx: Db, id: string): Promise<boolean> {
  await tx.dialect.lockRows?.(tx, 'files', sql`id = ${id}`)
  const { rows } = await sql<{ used: number }>`
    select count(*) as used from jobs
    where file_id = ${id} and redacted_object is null
      and (zero_retention = 0 or completed_at is null)`.execute(tx.sql)
  if (rows[0]!.used > 0) return false
  await tx.sql.deleteFrom('files').where('id', '=', id).execute()
  return true
}

function toRecording({ created_at, ...columns }: FileRow): StoredRecording {
  return { ...columns, createdAt: created_at }
}
