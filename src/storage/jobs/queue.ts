import { randomUUID } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import {
  liveCallbackBody,
  queueLiveCallbacks,
  queueWebhooks,
} from '../deliveries/delivery-outbox.ts'
import type { JobRow } from '../tables.ts'
import { type JobFile, type JobKind, toJobFile } from './jobs.ts'
import type { Lease } from './lease.ts'
import { metadataTokens } from './metadata-tokens.ts'

type Requested = {
  id: string
  account: string
  createdAt: number
  params: Record<string, unknown>
  /** Their JSON text, where it is written already; `params` may then lack the rest of long lists. */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
}

/** A job of recorded audio, to be queued. */
export type NewRecordedJob = Requested & {
  kind?: 'pre-recorded'
  /** The moment from which it may run, on the clock of the queue. */
  runAfter: number
  /** A file of the account, or one that has yet to be fetched from `source`. */
  file: Pick<JobFile, 'id' | 'filename' | 'source'>
}

/** A live session, which waits for its first connection instead of a worker. */
export type NewLiveJob = Requested & {
  kind: 'live'
  token: string
  /** Of the key that asks for it, if that may be revoked. */
  keyHash?: string | undefined
  channels: number
  /** The message by which its callback hears of it, when that wants to. */
  startMessage?: SessionMessage | undefined
}

/** Makes the JSON text of a message about a session; undefined when its callback is not to have it. */
export type SessionMessage = (
  params: Record<string, unknown>,
  session: { id: string; at: number },
) => string | undefined

/** A job to be created. */
export type NewJob = NewRecordedJob | NewLiveJob

/**
 * Jobs that an account may have waiting; of live sessions, which never wait for others, those that
 * have not ended.
 */
export type QueueLimit = { maxQueued: number }

/**
 * Queues a job, in the caller's transaction, with what is to be told of it, and tells whether it did.
 * One statement puts the job there:
 * an account can never have more than `maxQueued` waiting, an upload is there and the account's own
 * at the moment its job is, and `created_at` rises from job to job, which gives lists their order.
 */
export async function enqueueJob(tx: Db, job: NewJob, { maxQueued }: QueueLimit): Promise<boolean> {
  const { id, account, createdAt, kind = 'pre-recorded' } = job
  const metadata = job.customMetadata && JSON.stringify(job.customMetadata)
  const runAfter = job.kind === 'live' ? createdAt : job.runAfter
  const { rows } = await sql<{ created_at: number }>`
    insert into jobs (id, account, kind, status, created_at, run_after, request_params,
      custom_metadata, file_id, file_filename, file_source, file_duration, file_channels)
    select ${id}, ${account}, ${kind}, 'queued',
      case when newest.created_at >= ${createdAt} then newest.created_at + 1 else ${createdAt} end,
      ${runAfter}, ${job.paramsText ?? JSON.stringify(job.params)}, ${metadata},
      file.id, file.filename, file.source, file.duration, file.channels
    from ${fileOf(job)} file
    cross join (select coalesce((select created_at from jobs where account = ${account}
      order by created_at desc limit 1), 0) as created_at) newest
    where (select count(*) from jobs where kind = ${kind} and account = ${account}
      and ${counted[kind]}) < ${maxQueued}
    returning created_at`.execute(tx.sql)
  const queued = rows[0]
  if (!queued) return false
  const created = { kind, createdAt: queued.created_at }
  if (job.customMetadata) await indexMetadata(tx, job, created)
  if (job.kind === 'live') await recordToken(tx, job, created)
  await announce(tx, job, created)
  return true
}

async function announce(tx: Db, job: NewJob, { createdAt: at }: Created): Promise<void> {
  const event = job.kind === 'live' ? 'live.start_session' : 'transcription.created'
  const { id, account } = job
  const text = job.kind === 'live' ? job.startMessage?.(job.params, { id, at }) : undefined
  if (text !== undefined) {
    const body = liveCallbackBody({ id, event, message: text })
    const message = { seq: 0, event, body, body_object: null, isPassing: false }
    const row = { id, account, request_params: JSON.stringify(job.params) }
    await queueLiveCallbacks(tx, row, [message], { at, maxQueued: 1 })
  }
  await queueWebhooks(tx, job, [event], { at })
}

/** Which jobs the limit counts; in the words of their index, by which they are found. */
const counted = {
  'pre-recorded': sql`status = 'queued'`,
  live: sql`(status = 'queued' or status = 'processing')`,
}

/** What the job knows of its recording: a select of one row, or of none when the upload is not there. */
function fileOf(job: NewJob) {
  if (job.kind === 'live') {
    return sql`(select ${randomUUID()} as id, null as filename, null as source,
      null as duration, ${job.channels} as channels)`
  }
  const { id, filename, source } = job.file
  return source
    ? sql`(select ${id} as id, ${filename} as filename, ${source} as source,
        null as duration, null as channels)`
    : sql`(select id, filename, null as source, duration, channels from files
        where id = ${id} and account = ${job.account})`
}

type Created = { kind: JobKind; createdAt: number }

async function recordToken(tx: Db, job: NewLiveJob, { createdAt }: Created): Promise<void> {
  const { id, token, keyHash = null } = job
  const row = { job_id: id, token, created_at: createdAt, ended_at: null, key_hash: keyHash }
  await tx.sql.insertInto('live_sessions').values(row).execute()
}

/** Makes a job found by its metadata. */
async function indexMetadata(tx: Db, job: NewJob, { kind, createdAt }: Created): Promise<void> {
  // As it is stored, where a number that is too large has become null: deletion finds it so.
  const stored = JSON.parse(JSON.stringify(job.customMetadata))
  const tokens = metadataTokens(job.account, stored)
  if (tokens.length === 0) return
  const rows = tokens.map((token) => sql`(${token}, ${createdAt}, ${job.id}, ${kind})`)
  await sql`insert into job_metadata (token, created_at, id, kind)
    values ${sql.join(rows)}`.execute(tx.sql)
}

/** A job in hand, with the right to write to it. */
export type ClaimedJob = {
  id: string
  account: string
  lease: Lease
  /** Counts from 1. */
  attempt: number
  /** The moment from which it waited to be claimed, on the clock of the queue. */
  dueAt: number
  /** Whether its recording is here. */
  isFetched: boolean
  /** Since when it waits, again and again, for space on the disk; by the clock of the queue. */
  spaceWaitSince: number | null
  params: Record<string, unknown>
  file: JobFile
}

/**
 * So many servers may go down with a job in hand before the job is taken for the cause. Restarts alone
 * must never end a job, see docs/decisions/0014-lost-servers-cost-no-attempt.md.
 */
export const MAX_INTERRUPTIONS = 100

/** Who claims, until when, and within which limits. */
export type ClaimOptions = {
  owner: string
  now: number
  leaseUntil: number
  maxAttempts: number
  /** Jobs of one account that may be processed at the same time. */
  maxPerAccount: number
  /** Only jobs whose recording is here, or only those for which it has yet to be fetched. */
  only?: 'fetched' | 'unfetched' | undefined
}

/** The recording of `waiting` lies elsewhere still. */
const unfetched = sql<SqlBool>`(waiting.file_source is not null
  and not exists (select 1 from files where files.id = waiting.file_id))`

/**
 * Hands the next waiting job to `owner`, or nothing: higher priority first, then the account that has
 * the fewest running, then the oldest. One statement: two owners can never hold one job, an attempt
 * is counted before it begins, and the limit of an account holds.
 */
export async function claimJob(db: Db, options: ClaimOptions): Promise<ClaimedJob | undefined> {
  const { owner, now, leaseUntil, maxAttempts, maxPerAccount, only } = options
  const isWanted = only
    ? only === 'fetched'
      ? sql`and not ${unfetched}`
      : sql`and ${unfetched}`
    : sql``
  const { rows } = await sql<JobRow & { is_fetched: number }>`
    with running as (select account, count(*) as jobs from jobs
      where kind = 'pre-recorded' and status = 'processing' group by account)
    update jobs set status = 'processing', attempt = attempt + 1, lease_owner = ${owner},
      lease_epoch = lease_epoch + 1, lease_until = ${leaseUntil}
    where id = (select waiting.id from jobs as waiting
      left join running on running.account = waiting.account
      where waiting.kind = 'pre-recorded' and waiting.status = 'queued'
        and waiting.run_after <= ${now} and waiting.attempt < ${maxAttempts}
        and waiting.interruptions < ${MAX_INTERRUPTIONS}
        and coalesce(running.jobs, 0) < ${maxPerAccount} ${isWanted}
      order by waiting.priority desc, coalesce(running.jobs, 0), waiting.created_at, waiting.id
      limit 1)
    returning *, file_source is null
      or exists (select 1 from files where files.id = file_id) as is_fetched`.execute(db.sql)
  const row = rows[0]
  return row && { ...toClaimedJob(row), isFetched: row.is_fetched === 1 }
}

function toClaimedJob(row: JobRow): Omit<ClaimedJob, 'isFetched'> {
  return {
    id: row.id,
    account: row.account,
    lease: { id: row.id, epoch: row.lease_epoch },
    attempt: row.attempt,
    dueAt: row.run_after,
    spaceWaitSince: row.storage_wait_since,
    params: JSON.parse(row.request_params ?? '{}') as Record<string, unknown>,
    file: toJobFile(row)!,
  }
}
