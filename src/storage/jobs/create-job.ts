import { sql } from 'kysely'
import { type Db, inTransaction } from '../db.ts'
import { enqueueJob, type NewJob, type QueueLimit } from './queue.ts'

/** What a client sends so that a repeated request is recognized (contract 1.8). */
export type IdempotencyKey = {
  account: string
  key: string
  /** Represents everything that the request asked for. */
  fingerprint: string
}

/** How long the key of a request is remembered. */
const REMEMBERED_MS = 24 * 3_600_000

/** Finds the job that an earlier request with this key created, and what that request asked for. */
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

/** The job that an earlier request with the same key created, and what that request asked for. */
export type Earlier = { jobId: string; fingerprint: string }

/**
 * The outcome of a creation: `refused` by the queue, or not needed because the same key came
 * `earlier`.
 */
export type Creation = 'created' | 'refused' | Earlier

/** The options of a creation. */
export type CreationOptions = QueueLimit & { idempotency?: IdempotencyKey | undefined }

/**
 * Queues a job together with its metadata index entries and its idempotency key, or writes none of
 * it.
 */
export type CreateJob = (job: NewJob, options: CreationOptions) => Promise<Creation>

type Requested = { job: NewJob; options: CreationOptions; outcome: PromiseWithResolvers<Creation> }

/** This many statements keep other writers waiting for some milliseconds. */
const MAX_TOGETHER = 50

/**
 * Creates the function that creates jobs. Jobs requested during a write share the next transaction,
 * and with it one disk sync. Each call resolves when its job is on disk.
 */
export function createJobWriter(db: Db): CreateJob {
  const waiting: Requested[] = []
  let isWriting = false

  async function write(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) await writeTogether(db, waiting.splice(0, MAX_TOGETHER))
    isWriting = false
  }

  return (job, options) => {
    const outcome = Promise.withResolvers<Creation>()
    waiting.push({ job, options, outcome })
    if (!isWriting) void write()
    return outcome.promise
  }
}

async function writeTogether(db: Db, requested: readonly Requested[]): Promise<void> {
  try {
    const creations = await inTransaction(db, async (tx) => {
      const creations: Creation[] = []
      for (const { job, options } of requested) creations.push(await create(tx, job, options))
      return creations
    })
    for (const [i, { outcome }] of requested.entries()) outcome.resolve(creations[i]!)
  } catch (error) {
    if (requested.length === 1) return requested[0]!.outcome.reject(error)
    // A problem with one job, such as not fitting on the disk, must not fail the others.
    for (const one of requested) await writeTogether(db, [one])
  }
}

async function create(
  tx: Db,
  job: NewJob,
  { maxQueued, idempotency }: CreationOptions,
): Promise<Creation> {
  const earlier = idempotency && (await remember(tx, idempotency, job))
  if (earlier) return earlier
  if (await enqueueJob(tx, job, { maxQueued })) return 'created'
  if (idempotency) await forget(tx, idempotency)
  return 'refused'
}

/** A refused request may be repeated with the same key. */
async function forget(tx: Db, { account, key }: IdempotencyKey): Promise<void> {
  await tx.sql
    .deleteFrom('idempotency_keys')
    .where('account', '=', account)
    .where('key', '=', key)
    .execute()
}

/** Records the key, or returns what it was used for before. Takes over an expired key. */
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

/** Deletes expired keys. */
export async function deleteExpiredKeys(db: Db, { now }: { now: number }): Promise<void> {
  await db.sql
    .deleteFrom('idempotency_keys')
    .where('created_at', '<=', now - REMEMBERED_MS)
    .execute()
}
