import { type SqlBool, sql } from 'kysely'
import { type Db, withLock } from '../../database/db.ts'
import type { JobRow } from '../../database/tables.ts'
import { type JobFile, readRequestWarnings, toJobFile } from '../jobs.ts'
import type { Lease } from './lease.ts'

/** A running job, with its lease. */
export type ClaimedJob = {
  id: string
  account: string
  lease: Lease
  /** The number of the attempt, from 1. */
  attempt: number
  /** The time since which it waited to be claimed, by the clock of the queue. */
  dueAt: number
  /** Whether its recording is stored here. */
  hasRecording: boolean
  /** The time since which it has been waiting for disk space, by the clock of the queue. */
  spaceWaitSince: number | null
  params: Record<string, unknown>
  requestWarnings: readonly string[]
  file: JobFile
  /** Whether the job and its data is deleted after its result has been delivered. */
  zeroRetention: boolean
}

/**
 * After this many servers went down while running a job, the job is assumed to be the cause.
 * Restarts alone must never end a job, see docs/decisions/0014-lost-servers-cost-no-attempt.md.
 */
export const MAX_INTERRUPTIONS = 100

/** The process that claims a job, the length of the lease, and the limits. */
export type ClaimOptions = {
  owner: string
  /** Only jobs that are due by then are claimed, by the clock of the queue. */
  now: number
  /** The length of the lease, which the clock of the database measures. */
  leaseMs: number
  maxAttempts: number
  /** Maximum jobs of one account that are processed at a time. */
  maxPerAccount: number
  /**
   * Only jobs whose recording is stored here, or only those whose recording must still be fetched.
   */
  only?: 'stored' | 'remote' | undefined
}

/** The condition that the recording of `waiting` must still be fetched. */
const isRemote = sql<SqlBool>`(waiting.file_source is not null
  and not exists (select 1 from files where files.id = waiting.file_id))`

/**
 * Claims the next waiting job for `owner`, if there is one: the oldest of the account with the
 * fewest running jobs. The attempt is counted in the statement that claims the job. A lock lets one
 * claim run at a time, so the limit of an account holds.
 */
export function claimJob(db: Db, options: ClaimOptions): Promise<ClaimedJob | undefined> {
  return withLock(db, 'claims', (tx) => claim(tx, options))
}

async function claim(db: Db, options: ClaimOptions): Promise<ClaimedJob | undefined> {
  const { owner, now, leaseMs, maxAttempts, maxPerAccount, only } = options
  const recordingCondition = only
    ? only === 'stored'
      ? sql`and not ${isRemote}`
      : sql`and ${isRemote}`
    : sql``
  const { rows } = await sql<JobRow & { is_fetched: unknown }>`
    with running as (select account, count(*) as jobs from jobs
      where kind = 'pre-recorded' and status = 'processing' group by account)
    update jobs set status = 'processing', attempt = attempt + 1, lease_owner = ${owner},
      lease_epoch = lease_epoch + 1, lease_until = ${db.dialect.now()} + ${leaseMs}
    where id = (select waiting.id from jobs as waiting
      left join running on running.account = waiting.account
      where waiting.kind = 'pre-recorded' and waiting.status = 'queued'
        and waiting.run_after <= ${now} and waiting.attempt < ${maxAttempts}
        and waiting.interruptions < ${MAX_INTERRUPTIONS}
        and coalesce(running.jobs, 0) < ${maxPerAccount} ${recordingCondition}
      order by coalesce(running.jobs, 0), waiting.created_at, waiting.id
      limit 1 ${db.dialect.forUpdateSkipLocked('waiting')})
    returning *, file_source is null
      or exists (select 1 from files where files.id = file_id) as is_fetched`.execute(db.sql)
  const row = rows[0]
  return row && { ...toClaimedJob(row), hasRecording: db.dialect.toBoolean(row.is_fetched) }
}

function toClaimedJob(row: JobRow): Omit<ClaimedJob, 'hasRecording'> {
  return {
    id: row.id,
    account: row.account,
    lease: { id: row.id, epoch: row.lease_epoch },
    attempt: row.attempt,
    dueAt: row.run_after,
    spaceWaitSince: row.storage_wait_since,
    params: JSON.parse(row.request_params ?? '{}') as Record<string, unknown>,
    requestWarnings: readRequestWarnings(row),
    file: toJobFile(row)!,
    zeroRetention: row.zero_retention === 1,
  }
}
