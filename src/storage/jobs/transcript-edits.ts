import { sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'
import { queueForSearch } from '../search/search-queue.ts'

/** A version of a corrected transcript. Version 0, the original transcript, is not stored. */
export type TranscriptVersion = {
  version: number
  /** Milliseconds since 1970. */
  createdAt: number
  /** The name of the key with which the version was made. */
  keyName: string | null
  /** The earlier version that this version restores. */
  restored: number | null
  /** The number of operations from which the version was made. */
  operations: number
}

/** A version with its changes, which are empty if the version restores another one. */
export type NewTranscriptVersion = TranscriptVersion & { changes: string }

/** The number of the last version, and the bytes of all versions together. */
export type EditedSize = { version: number; bytes: number }

/**
 * Returns the number of the last version of the transcript of a job, and the size of all versions.
 * The number is 0 without corrections.
 */
export async function findEditedSize(db: Pick<Db, 'sql'>, jobId: string): Promise<EditedSize> {
  const { rows } = await sql<EditedSize>`
    select coalesce(max(version), 0) as version,
      cast(coalesce(sum(octet_length(changes)), 0) as bigint) as bytes
    from transcript_edits where job_id = ${jobId}`.execute(db.sql)
  return rows[0]!
}

/** Returns versions of a job's transcript, newest first. */
export async function listTranscriptVersions(
  db: Pick<Db, 'sql'>,
  jobId: string,
  { limit }: { limit: number },
): Promise<TranscriptVersion[]> {
  const rows = await db.sql
    .selectFrom('transcript_edits')
    .select(['version', 'created_at', 'key_name', 'restored', 'operations'])
    .where('job_id', '=', jobId)
    .orderBy('version', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ created_at, key_name, ...row }) => {
    return { ...row, createdAt: created_at, keyName: key_name }
  })
}

/**
 * Returns the changes that a version of a job's transcript consists of, oldest first; changes that
 * a later version reverted are left out. Undefined if there is no such version.
 */
export async function readTranscriptChanges(
  db: Pick<Db, 'sql'>,
  jobId: string,
  version: number,
): Promise<string[] | undefined> {
  if (version === 0) return []
  const rows = await db.sql
    .selectFrom('transcript_edits')
    .select(['version', 'restored', 'changes'])
    .where('job_id', '=', jobId)
    .where('version', '<=', version)
    .execute()
  const versions = new Map(rows.map((row) => [row.version, row]))
  const changes: string[] = []
  for (let at = version; at > 0; ) {
    const row = versions.get(at)
    if (!row) return undefined
    if (row.restored === null) changes.push(row.changes)
    at = row.restored ?? at - 1
  }
  return changes.reverse()
}

/**
 * Stores the next version of a finished job's transcript. Returns false, and changes nothing, if
 * there is one with its number already, or the job was deleted meanwhile.
 */
export function insertTranscriptVersion(
  db: Db,
  { jobId, account }: { jobId: string; account: string },
  { version, createdAt, keyName, restored, operations, changes }: NewTranscriptVersion,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql`select 1 from jobs
      where id = ${jobId} and account = ${account} and status = 'done'
      ${tx.dialect.forKeyShare}`.execute(tx.sql)
    if (rows.length === 0) return false
    const { numInsertedOrUpdatedRows } = await tx.sql
      .insertInto('transcript_edits')
      .values({
        job_id: jobId,
        version,
        account,
        restored,
        operations,
        changes,
        created_at: createdAt,
        key_name: keyName,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows !== 1n) return false
    await queueForSearch(tx, jobId)
    return true
  })
}

/** Deletes all corrections of a job's transcript, in the transaction that deletes the job. */
export async function deleteTranscriptEdits(tx: Db, jobId: string): Promise<void> {
  await tx.sql.deleteFrom('transcript_edits').where('job_id', '=', jobId).execute()
}
