import { sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'

/** A link that shows one job to anyone who has it. Times are milliseconds since 1970. */
export type Share = {
  id: string
  account: string
  jobId: string
  createdAt: number
  expiresAt: number
  /** Whether it shows the corrections of people. */
  isEdited: boolean
  /** The name of the key that made it. */
  keyName: string | null
}

/** Maximum links of one job at a time. */
const MAX_SHARES = 100

/**
 * Stores a link by the hash of its secret, and deletes links that have expired. Returns `full` if
 * the job has too many, and `gone` if it is neither done nor a session that runs, or was deleted.
 */
export function insertShare(
  db: Db,
  { hash, ...share }: Share & { hash: string },
): Promise<'stored' | 'full' | 'gone'> {
  const { id, account, jobId, createdAt, expiresAt, keyName } = share
  return inTransaction(db, async (tx) => {
    await tx.sql.deleteFrom('shares').where('expires_at', '<=', createdAt).execute()
    const { rows } = await sql`select 1 from jobs
      where id = ${jobId} and account = ${account}
        and (status = 'done' or (kind = 'live' and status in ('queued', 'processing')))
      ${tx.dialect.forKeyShare}`.execute(tx.sql)
    if (rows.length === 0) return 'gone'
    const { count } = await tx.sql
      .selectFrom('shares')
      .select((query) => query.fn.countAll<number>().as('count'))
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow()
    if (count >= MAX_SHARES) return 'full'
    await tx.sql
      .insertInto('shares')
      .values({
        hash,
        id,
        account,
        job_id: jobId,
        created_at: createdAt,
        expires_at: expiresAt,
        is_edited: share.isEdited ? 1 : 0,
        key_name: keyName,
      })
      .execute()
    return 'stored'
  })
}

/** Finds the link with a hash, if it has not expired by `now`. */
export async function findShare(
  db: Pick<Db, 'sql'>,
  hash: string,
  { now }: { now: number },
): Promise<Share | undefined> {
  const row = await shares(db, now).where('hash', '=', hash).executeTakeFirst()
  return row && toShare(row)
}

/** Returns the links of a job that have not expired by `now`, oldest first. */
export async function listShares(
  db: Pick<Db, 'sql'>,
  { jobId, account }: { jobId: string; account: string },
  { now }: { now: number },
): Promise<Share[]> {
  const rows = await shares(db, now)
    .where('job_id', '=', jobId)
    .where('account', '=', account)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toShare)
}

/** Deletes a link; returns false if there is none. */
export async function deleteShare(
  db: Pick<Db, 'sql'>,
  { id, jobId, account }: Pick<Share, 'id' | 'jobId' | 'account'>,
): Promise<boolean> {
  const { numDeletedRows } = await db.sql
    .deleteFrom('shares')
    .where('id', '=', id)
    .where('job_id', '=', jobId)
    .where('account', '=', account)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Deletes all links of a job, in the transaction that deletes the job. */
export async function deleteSharesOfJob(tx: Db, jobId: string): Promise<void> {
  await tx.sql.deleteFrom('shares').where('job_id', '=', jobId).execute()
}

function shares({ sql }: Pick<Db, 'sql'>, now: number) {
  return sql
    .selectFrom('shares')
    .select(['id', 'account', 'job_id', 'created_at', 'expires_at', 'is_edited', 'key_name'])
    .where('expires_at', '>', now)
}

type SelectedShare = Awaited<ReturnType<ReturnType<typeof shares>['executeTakeFirstOrThrow']>>

function toShare({
  job_id,
  created_at,
  expires_at,
  is_edited,
  key_name,
  ...row
}: SelectedShare): Share {
  const times = { createdAt: created_at, expiresAt: expires_at }
  return { ...row, jobId: job_id, ...times, isEdited: is_edited === 1, keyName: key_name }
}
