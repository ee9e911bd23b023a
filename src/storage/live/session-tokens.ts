import { DAY_MS } from '../../clock.ts'
import type { Db } from '../database/db.ts'

/**
 * How long the token of an ended session is kept; during this time, the request that created it may
 * be repeated.
 */
const KEPT_MS = DAY_MS

/** The response to the creation of a live session. */
export type SessionToken = { id: string; createdAt: number; token: string }

/**
 * Returns the session of a job with its token, even if the job was deleted; undefined if it was
 * deleted long ago.
 */
export async function findLiveSession(db: Db, jobId: string): Promise<SessionToken | undefined> {
  const row = await db.sql
    .selectFrom('live_sessions')
    .selectAll()
    .where('job_id', '=', jobId)
    .executeTakeFirst()
  return row && { id: row.job_id, createdAt: row.created_at, token: row.token }
}

/** The session that a token belongs to; `keyHash` is that of the key that created it, if known. */
export type SessionOfToken = { jobId: string; keyHash: string | null }

/**
 * Finds the session of a token; undefined if there is none, or if it ended more than `grace`
 * seconds ago.
 */
export async function findSessionByToken(
  db: Db,
  token: string,
  { now, grace }: { now: number; grace: number },
): Promise<SessionOfToken | undefined> {
  const row = await db.sql
    .selectFrom('live_sessions')
    .select(['job_id', 'ended_at', 'key_hash'])
    .where('token', '=', token)
    .executeTakeFirst()
  const isExpired = (row?.ended_at ?? now) + grace * 1000 < now
  return row && !isExpired ? { jobId: row.job_id, keyHash: row.key_hash } : undefined
}

/** Records when a session ended, in the transaction that ends or deletes its job. */
export async function recordSessionEnd(
  tx: Db,
  { id, at }: { id: string; at: number },
): Promise<void> {
  await tx.sql.updateTable('live_sessions').set({ ended_at: at }).where('job_id', '=', id).execute()
}

/** Deletes the tokens of sessions that ended long ago. */
export async function deleteExpiredTokens(db: Db, { now }: { now: number }): Promise<void> {
  await db.sql
    .deleteFrom('live_sessions')
    .where('ended_at', 'is not', null)
    .where('ended_at', '<=', now - KEPT_MS)
    .execute()
}

/**
 * Returns the hash of the key that created the session of each job. Jobs without a known key are
 * omitted.
 */
export async function findSessionKeys(
  db: Db,
  jobIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.sql
    .selectFrom('live_sessions')
    .select(['job_id', 'key_hash'])
    .where('job_id', 'in', jobIds)
    .where('key_hash', 'is not', null)
    .execute()
  return new Map(rows.map(({ job_id, key_hash }) => [job_id, key_hash!]))
}
