import { sql } from 'kysely'
import { DAY_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { findAudioQuotaError } from '../accounts/usage/audio-quota.ts'
import type { Db } from '../database/db.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import { findRecording } from '../recordings/recordings.ts'
import { insertJob, jobBatch, type NewJob, type QueueLimit } from './queue/insert-job.ts'

/** The idempotency key of a request, by which a repetition is recognized. */
export type IdempotencyKey = {
  account: string
  key: string
  /** A hash of everything that the request contains. */
  fingerprint: string
}

/** How long the key of a request is kept. */
const KEY_LIFETIME_MS = DAY_MS

/**
 * Returns the job that an earlier request with this key created, and the fingerprint of that
 * request.
 */
export async function findByIdempotencyKey(
  db: Db,
  { account, key }: IdempotencyKey,
  { now }: { now: number },
): Promise<IdempotencyRecord | undefined> {
  const row = await db.sql
    .selectFrom('idempotency_keys')
    .select(['job_id', 'fingerprint'])
    .where('account', '=', account)
    .where('key', '=', key)
    .where('created_at', '>', now - KEY_LIFETIME_MS)
    .executeTakeFirst()
  return row && { jobId: row.job_id, fingerprint: row.fingerprint }
}

/**
 * The job that an earlier request with the same key created, and the fingerprint of that request.
 */
export type IdempotencyRecord = { jobId: string; fingerprint: string }

/**
 * Returns the id of the job that an earlier request created. Throws `idempotency_conflict` if that
 * request was different.
 */
export function jobOfSameRequest(
  earlier: IdempotencyRecord,
  { fingerprint }: IdempotencyKey,
): string {
  if (earlier.fingerprint !== fingerprint) throw new AppError('idempotency_conflict')
  return earlier.jobId
}

/**
 * The outcome of a creation: `refused` by the queue, or `earlier` if a request with the same key
 * has already created the job.
 */
export type CreateJobResult = 'created' | 'refused' | IdempotencyRecord

/** The options of a creation. */
export type CreationOptions = QueueLimit & {
  idempotency?: IdempotencyKey | undefined
  /** The monthly limit of the account, in seconds of audio times channels; 0 means no limit. */
  maxSecondsPerMonth?: number | undefined
}

/**
 * Queues a job with its metadata index and its idempotency key, or writes nothing. Rejects with
 * `quota_exceeded` if the account has used up its monthly quota.
 */
export type CreateJob = (job: NewJob, options: CreationOptions) => Promise<CreateJobResult>

/**
 * Creates the function that creates jobs. Jobs that are requested during a write share the next
 * transaction. Each call resolves when its job is on disk.
 */
export function createJobWriter(db: Db): CreateJob {
  // The quota and the idempotency keys are read before the jobs are written.
  const isReadFirst = ({ idempotency, maxSecondsPerMonth }: CreationOptions) => {
    return idempotency !== undefined || Boolean(maxSecondsPerMonth)
  }
  const write = createGroupCommit(db, insertNewJob, {
    orderBy: ({ job }) => job.account,
    mayOverlap: ({ options }) => !isReadFirst(options),
    toBatch({ job, options }) {
      return job.kind === 'live' || isReadFirst(options) ? undefined : jobBatch(db, job, options)
    },
    findWritten: async (tx, { job }) => ((await hasJob(tx, job)) ? 'created' : undefined),
  })
  return async (job, options) => {
    const outcome = await write({ job, options })
    if (typeof outcome === 'object' && 'quotaError' in outcome) throw outcome.quotaError
    return outcome
  }
}

async function hasJob(tx: Db, { id, account }: NewJob): Promise<boolean> {
  const query = tx.sql.selectFrom('jobs').select('id').where('id', '=', id)
  return (await query.where('account', '=', account).executeTakeFirst()) !== undefined
}

/**
 * The outcome within the transaction. A refusal is returned and not thrown, because it must not
 * roll back the transaction, which other creations share.
 */
type CreateOutcome = CreateJobResult | { quotaError: AppError }

async function insertNewJob(
  tx: Db,
  { job, options }: { job: NewJob; options: CreationOptions },
): Promise<CreateOutcome> {
  const { maxQueued, idempotency, maxSecondsPerMonth: maxSeconds } = options
  // The jobs of one account must be counted, and get their creation times, one after another.
  await tx.dialect.lock?.(tx, `jobs of ${job.account}`)
  const earlier = idempotency && (await recordKey(tx, idempotency, job))
  if (earlier) return earlier
  const quotaError = maxSeconds ? await checkMonthlyQuota(tx, job, { maxSeconds }) : undefined
  if (!quotaError && (await insertJob(tx, job, { maxQueued }))) return 'created'
  if (idempotency) await deleteIdempotencyKey(tx, idempotency)
  return quotaError ? { quotaError } : 'refused'
}

/**
 * Checks the quota in the transaction that creates the job, so that concurrent requests see each
 * other.
 */
async function checkMonthlyQuota(tx: Db, job: NewJob, { maxSeconds }: { maxSeconds: number }) {
  const { account, createdAt: now } = job
  const file =
    job.kind === 'live' ? undefined : await findRecording(tx, { id: job.file.id, account })
  const seconds = (file?.duration ?? 0) * (file?.channels ?? 1)
  return findAudioQuotaError(tx, { account, now, seconds, maxSeconds })
}

/** Deletes the key of a refused request, which may be repeated with the same key. */
async function deleteIdempotencyKey(tx: Db, { account, key }: IdempotencyKey): Promise<void> {
  await tx.sql
    .deleteFrom('idempotency_keys')
    .where('account', '=', account)
    .where('key', '=', key)
    .execute()
}

/** Records the key, or returns its earlier use. An expired key may be used again. */
async function recordKey(
  tx: Db,
  { account, key, fingerprint }: IdempotencyKey,
  { id, createdAt }: NewJob,
): Promise<IdempotencyRecord | undefined> {
  const { numAffectedRows } = await sql`
    insert into idempotency_keys (account, key, fingerprint, job_id, created_at)
    values (${account}, ${key}, ${fingerprint}, ${id}, ${createdAt})
    on conflict (account, key) do update set fingerprint = excluded.fingerprint,
      job_id = excluded.job_id, created_at = excluded.created_at
      where idempotency_keys.created_at <= ${createdAt - KEY_LIFETIME_MS}`.execute(tx.sql)
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
    .where('created_at', '<=', now - KEY_LIFETIME_MS)
    .execute()
}
