import { type SqlBool, sql } from 'kysely'
import {
  recordJobUsage,
  startOfDay,
  type UsageJob,
  usageColumns,
} from '../../accounts/usage/usage.ts'
import { type Db, inTransaction } from '../../database/db.ts'
import { isAbandoned } from '../../database/nodes/register-node.ts'
import { type EndedJob, endedJobColumns, queueJobEnd } from '../../deliveries/queue-deliveries.ts'
import type { JobFailure } from '../finish-job.ts'
import { MAX_INTERRUPTIONS } from './claim-job.ts'

/**
 * Makes every waiting job due. A server calls it at its start, because the clock may have been set
 * back.
 */
export async function makeWaitingDue(db: Db, { now }: { now: number }): Promise<void> {
  await sql`update jobs set run_after = ${now}
    where kind = 'pre-recorded' and status = 'queued' and run_after > ${now}`.execute(db.sql)
}

/** What the queue needs next; times are on its clock. */
export type QueueState = {
  /** The number of waiting jobs that are due. */
  dueJobs: number
  /** When the next waiting job becomes due. */
  nextDue: number | undefined
  /** Since when the longest waiting job has been due. */
  oldestDue: number | undefined
  /** Whether running jobs have lost their owner or their lease. */
  hasAbandoned: boolean
  /** Whether jobs wait that can no longer be claimed. */
  hasExhausted: boolean
}

/** The time, the limit of attempts, and the jobs that the caller is running. */
export type QueueStateOptions = { now: number; maxAttempts: number; running: readonly string[] }

/** Reads the state of the queue. */
export async function readQueueState(
  db: Db,
  { now, maxAttempts, running }: QueueStateOptions,
): Promise<QueueState> {
  const { toBoolean } = db.dialect
  const { rows } = await sql<{
    due_jobs: number
    next_due: number | null
    oldest_due: number | null
    has_abandoned: unknown
    has_exhausted: unknown
  }>`
    select count(case when run_after <= ${now} then 1 end) as due_jobs,
      min(case when run_after > ${now} then run_after end) as next_due,
      min(case when run_after <= ${now} then run_after end) as oldest_due,
      exists (select 1 from jobs where kind = 'pre-recorded' and status = 'processing'
        and (${isAbandoned} or ${isExpired(db, running)})) as has_abandoned,
      exists (select 1 from jobs where kind = 'pre-recorded' and status = 'queued'
        and ${isExhausted(maxAttempts)}) as has_exhausted
    from jobs where kind = 'pre-recorded' and status = 'queued'`.execute(db.sql)
  const state = rows[0]!
  return {
    dueJobs: state.due_jobs,
    nextDue: state.next_due ?? undefined,
    oldestDue: state.oldest_due ?? undefined,
    hasAbandoned: toBoolean(state.has_abandoned),
    hasExhausted: toBoolean(state.has_exhausted),
  }
}

function isExpired(db: Db, running: readonly string[]) {
  const isRunning = db.dialect.isIn(sql.ref('id'), running)
  return sql<SqlBool>`(lease_until < ${db.dialect.now()} and not (${isRunning}))`
}

function isExhausted(maxAttempts: number) {
  return sql<SqlBool>`(attempt >= ${maxAttempts} or interruptions >= ${MAX_INTERRUPTIONS})`
}

/** Requeues the jobs whose owner, a node, is dead, as if their attempts had not begun. */
export function requeueJobsOfDeadNodes(db: Db, { now }: { now: number }): Promise<number> {
  const attempt = sql<number>`attempt - 1`
  return requeueJobs(db, { now, lost: isAbandoned, attempt, interruptions: 1 })
}

/**
 * Requeues the jobs whose lease has expired, by the clock of the database, because their owner
 * hangs. The jobs in `running`, which the caller is running, are excluded, however long the disk
 * delayed their renewal.
 */
export async function requeueJobsOfExpiredLeases(
  db: Db,
  { now, running = [] }: { now: number; running?: readonly string[] },
): Promise<number> {
  const lost = isExpired(db, running)
  return requeueJobs(db, { now, lost, attempt: sql`attempt`, interruptions: 0 })
}

type RequeueOptions = {
  now: number
  lost: ReturnType<typeof sql<SqlBool>>
  attempt: ReturnType<typeof sql<number>>
  interruptions: number
}

async function requeueJobs(
  db: Db,
  { now, lost, attempt, interruptions }: RequeueOptions,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update jobs set status = 'queued', run_after = ${now}, lease_owner = null, lease_until = null,
      attempt = ${attempt}, interruptions = interruptions + ${interruptions},
      progress_stage = null, progress_fraction = null, progress_seconds_left = null
    where kind = 'pre-recorded' and status = 'processing' and ${lost}`.execute(db.sql)
  return Number(numAffectedRows ?? 0)
}

/**
 * Fails the waiting jobs that can no longer be claimed: all attempts failed, or too many servers
 * went down. Yields the ids of each batch once it has ended.
 */
export function failExhaustedJobs(
  db: Db,
  options: { maxAttempts: number; failure: JobFailure; at: number },
): AsyncGenerator<string[]> {
  return failWaiting(db, { ...options, condition: isExhausted(options.maxAttempts) })
}

/**
 * Fails the jobs that have been waiting since before `since`. Yields the ids of each batch once it
 * has ended.
 */
export function failOverdueJobs(
  db: Db,
  options: { since: number; failure: JobFailure; at: number },
): AsyncGenerator<string[]> {
  return failWaiting(db, { ...options, condition: sql`run_after < ${options.since}` })
}

type FailWaiting = { condition: ReturnType<typeof sql<SqlBool>>; failure: JobFailure; at: number }

async function* failWaiting(db: Db, options: FailWaiting): AsyncGenerator<string[]> {
  for (;;) {
    const ended = await inTransaction(db, (tx) => failSome(tx, options))
    yield ended
    if (ended.length < BATCH) return
  }
}

/** The jobs that one transaction ends, so that others can write in between. */
const BATCH = 100

async function failSome(tx: Db, { condition, failure, at }: FailWaiting): Promise<string[]> {
  const columns = sql.join([...endedJobColumns, ...usageColumns].map((name) => sql.ref(name)))
  const { rows } = await sql<EndedJob & UsageJob>`
    update jobs set status = 'error', error_code = ${failure.code},
      completed_at = case when created_at > ${at} then created_at else ${at} end,
      post_session_metadata = ${JSON.stringify({ failure })}
    where id in (select id from jobs
      where kind = 'pre-recorded' and status = 'queued' and ${condition} limit ${BATCH}
      ${tx.dialect.forUpdateSkipLocked('jobs')})
    returning ${columns}`.execute(tx.sql)
  for (const job of rows) await queueJobEnd(tx, job, { at })
  // The order is always the same, so that transactions do not deadlock; see `recordJobUsage`.
  for (const job of rows.toSorted((a, b) => (usageKey(a) < usageKey(b) ? -1 : 1))) {
    await recordJobUsage(tx, job)
  }
  return rows.map(({ id }) => id)
}

function usageKey({ account, completed_at, key_id }: UsageJob): string {
  return JSON.stringify([account, startOfDay(completed_at!), key_id])
}

/** Returns the ids of all pre-recorded jobs that have not ended, waiting or running. */
export async function findActivePreRecordedJobs(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from jobs
    where kind = 'pre-recorded' and (status = 'queued' or status = 'processing')`.execute(db.sql)
  return rows.map(({ id }) => id)
}
