import { sql } from 'kysely'
import { type Db, inTransaction } from './db.ts'
import { enqueueJob, type NewJob } from './queue.ts'

/** What a client sent to have a repeated request recognised (contract 1.8). */
export type IdempotencyKey = {
  account: string
  key: string
  /** Stands for everything that the request asked for. */
  fingerprint: string
}

/** How long a request is remembered by its key. */
const REMEMBERED_MS = 24 * 3_600_000

/** Finds the job that an earlier request with this key made, and what that one asked for. */
export async function findRepeated(
  db: Db,
  { account, key }: IdempotencyKey,
  { now }: { now: number },
): Promise<Earlier | undefined> {
  const row = await db.sql
    .selectFrom('idempotency_keys')
    .select(['job_id', 'fingerprint'])
    .where('account', '=', account)
    .where('key', '=', key)
    .where('created_at', '>', now - REMEMBERED_MS)
    .executeTakeFirst()
  return row && { jobId: row.job_id, fingerprint: row.fingerprint }
}

/** What an earlier request with the same key made, and what it asked for. */
export type Earlier = { jobId: string; fingerprint: string }

/** How a creation ended: `refused` by the queue, or not needed because the same key came `earlier`. */
export type Creation = 'created' | 'refused' | Earlier

/** Ends a transaction and undoes what it wrote. */
class Undone extends Error {
  readonly how: Creation

  constructor(how: Creation) {
    super('undone')
    this.how = how
  }
}

/** Queues a job, with its place in the metadata index and the key it came with, or nothing of it. */
export async function createJob(
  db: Db,
  job: NewJob,
  { maxQueued, idempotency }: { maxQueued: number; idempotency?: IdempotencyKey | undefined },
): Promise<Creation> {
  if (!idempotency && !job.customMetadata) {
    // One statement needs no transaction.
    return (await enqueueJob(db, job, { maxQueued })) ? 'created' : 'refused'
  }
  try {
    await inTransaction(db, async (tx) => {
      const earlier = idempotency && (await remember(tx, idempotency, job))
      if (earlier) throw new Undone(earlier)
      if (!(await enqueueJob(tx, job, { maxQueued }))) throw new Undone('refused')
    })
    return 'created'
  } catch (error) {
    if (error instanceof Undone) return error.how
    throw error
  }
}

/** Notes the key, or returns what it was used for before; one that is due to be forgotten is taken over. */
async function remember(
  tx: Db,
  { account, key, fingerprint }: IdempotencyKey,
  { id, createdAt }: NewJob,
): Promise<Earlier | undefined> {
  const { numAffectedRows } = await sql`
    insert into idempotency_keys (account, key, fingerprint, job_id, created_at)
    values (${account}, ${key}, ${fingerprint}, ${id}, ${createdAt})
    on conflict (account, key) do update set fingerprint = excluded.fingerprint,
      job_id = excluded.job_id, created_at = excluded.created_at
      where idempotency_keys.created_at <= ${createdAt - REMEMBERED_MS}`.execute(tx.sql)
  if (numAffectedRows === 1n) return undefined
  const earlier = await tx.sql
    .selectFrom('idempotency_keys')
    .select(['job_id', 'fingerprint'])
    .where('account', '=', account)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  return { jobId: earlier.job_id, fingerprint: earlier.fingerprint }
}

/** Forgets the keys whose time is up. */
export async function forgetOldKeys(db: Db, { now }: { now: number }): Promise<void> {
  await db.sql
    .deleteFrom('idempotency_keys')
    .where('created_at', '<=', now - REMEMBERED_MS)
    .execute()
}
