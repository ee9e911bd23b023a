import { randomUUID } from 'node:crypto'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Db, withLock } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'
import type { JobRow } from '../../database/tables.ts'
import {
  liveCallbackBody,
  queueLiveCallbacks,
  queueWebhooks,
} from '../../deliveries/queue-deliveries.ts'
import { type JobFile, type JobKind, readRequestWarnings, toJobFile } from '../jobs.ts'
import { metadataTokens } from '../lists/metadata-tokens.ts'
import type { Lease } from './lease.ts'

type JobRequest = {
  id: string
  account: string
  createdAt: number
  params: Record<string, unknown>
  /**
   * The JSON text of the parameters, if it exists; `params` may then lack the ends of long lists.
   */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** Warnings about the request, which the result repeats. */
  warnings?: readonly string[] | undefined
  /** The id of the key of the request. */
  keyId?: string | undefined
  /**
   * Whether the job and its data are deleted after its result was delivered; by default they are
   * kept.
   */
  zeroRetention?: boolean | undefined
}

/** A job of recorded audio to queue. */
export type NewRecordedJob = JobRequest & {
  kind?: 'pre-recorded'
  /** The time from which it may run, by the clock of the queue. */
  runAfter: number
  /** A file of the account, or a file to fetch from `source`. */
  file: Pick<JobFile, 'id' | 'filename' | 'source'>
}

/** A live session, which waits for its first connection instead of a worker. */
export type NewLiveJob = JobRequest & {
  kind: 'live'
  token: string
  /** The hash of the key of the request, if that key may be revoked. */
  keyHash?: string | undefined
  channels: number
  /** The message to its callback about the start, if the callback wants one. */
  startMessage?: SessionMessage | undefined
}

/**
 * Builds the JSON text of a message about a session; undefined if its callback does not want it.
 */
export type SessionMessage = (
  params: Record<string, unknown>,
  session: { id: string; at: number },
) => string | undefined

/** A job to create. */
export type NewJob = NewRecordedJob | NewLiveJob

/**
 * The most waiting jobs of an account. Live sessions do not wait for others, so all open ones
 * count.
 */
export type QueueLimit = { maxQueued: number }

/**
 * Queues a job with its notifications, in the caller's transaction; returns whether it did. A
 * single statement inserts the job: an account can never have more than `maxQueued` waiting, an
 * upload exists and belongs to the account at the moment its job is created, and `created_at` rises
 * from job to job, which gives lists their order.
 */
export async function enqueueJob(tx: Db, job: NewJob, { maxQueued }: QueueLimit): Promise<boolean> {
  const { id, account, createdAt, kind = 'pre-recorded' } = job
  const values = {
    ...{ id, account, createdAt, maxQueued },
    runAfter: job.kind === 'live' ? createdAt : job.runAfter,
    params: job.paramsText ?? JSON.stringify(job.params),
    metadata: job.customMetadata && JSON.stringify(job.customMetadata),
    keyId: job.keyId ?? null,
    zeroRetention: job.zeroRetention ? 1 : 0,
    warnings: job.warnings?.length ? JSON.stringify(job.warnings) : null,
  }
  const [queued] = await insert(tx, job, values)
  if (!queued) return false
  const created = { kind, createdAt: queued.created_at }
  if (job.customMetadata) await indexMetadata(tx, job, created)
  if (job.kind === 'live') await recordToken(tx, job, created)
  await queueCreationEvents(tx, job, {
    ...created,
    hasWebhooks: tx.dialect.toBoolean(queued.has_webhooks),
  })
  return true
}

type JobValues = {
  id: string
  account: string
  createdAt: number
  maxQueued: number
  runAfter: number
  params: string
  metadata: string | null
  keyId: string | null
  zeroRetention: number
  warnings: string | null
}
type InsertedJob = { created_at: number; has_webhooks: unknown }

function insert(tx: Db, job: NewJob, values: JobValues): Promise<InsertedJob[]> {
  if (job.kind === 'live') {
    return insertLive(tx, { ...values, fileId: randomUUID(), channels: job.channels })
  }
  const { id: fileId, filename, source } = job.file
  if (source) return insertRemote(tx, { ...values, fileId, filename, source })
  return insertUploaded(tx, { ...values, fileId })
}

const noDuration = sql`cast(null as double precision)`

const insertLive = statement<JobValues & { fileId: string; channels: number }, InsertedJob>(
  (values) =>
    insertion('live', values, {
      file: sql`select ${values.fileId} as id, null as filename, null as source,
      ${noDuration} as duration, cast(${values.channels} as integer) as channels`,
    }),
)

type RecordingToFetch = { fileId: string; filename: string | null; source: string }
const insertRemote = statement<JobValues & RecordingToFetch, InsertedJob>((values) =>
  insertion('pre-recorded', values, {
    file: sql`select ${values.fileId} as id, ${values.filename} as filename,
      ${values.source} as source, ${noDuration} as duration, cast(null as integer) as channels`,
  }),
)

/** Inserts no row if the upload does not exist. */
const insertUploaded = statement<JobValues & { fileId: string }, InsertedJob>((values, dialect) =>
  insertion('pre-recorded', values, {
    file: sql`select id, filename, null as source, duration, channels from files
      where id = ${values.fileId} and account = ${values.account} ${dialect.forKeyShare}`,
  }),
)

/** The condition for jobs that count for the limit, worded like that of their index. */
const countsForLimit = {
  'pre-recorded': sql`status = 'queued'`,
  live: sql`(status = 'queued' or status = 'processing')`,
}

/** `file` is a `select` of the job's columns about its recording. */
function insertion(kind: JobKind, values: JobValues, { file }: { file: RawBuilder<unknown> }) {
  const { id, account, createdAt, maxQueued } = values
  return sql<InsertedJob>`
    insert into jobs (id, account, kind, status, created_at, run_after, request_params,
      custom_metadata, key_id, zero_retention, request_warnings, file_id, file_filename, file_source,
      file_duration, file_channels)
    select ${id}, ${account}, ${kind}, 'queued',
      case when newest.created_at >= ${createdAt} then newest.created_at + 1 else ${createdAt} end,
      ${values.runAfter}, ${values.params}, ${values.metadata}, ${values.keyId}, ${values.zeroRetention},
      ${values.warnings},
      file.id, file.filename, file.source, file.duration, file.channels
    from (${file}) file
    cross join (select coalesce((select created_at from jobs where account = ${account}
      order by created_at desc limit 1), 0) as created_at) newest
    where (select count(*) from jobs where kind = ${kind} and account = ${account}
      and ${countsForLimit[kind]}) < ${maxQueued}
    returning created_at, exists (select 1 from endpoints
      where account = ${account} and kind = 'webhook') as has_webhooks`
}

async function queueCreationEvents(
  tx: Db,
  job: NewJob,
  { createdAt: at, hasWebhooks }: CreatedJob & { hasWebhooks: boolean },
): Promise<void> {
  const event = job.kind === 'live' ? 'live.start_session' : 'transcription.created'
  const { id, account } = job
  const text = job.kind === 'live' ? job.startMessage?.(job.params, { id, at }) : undefined
  if (text !== undefined) {
    const body = liveCallbackBody({ id, event, message: text })
    const message = { seq: 0, event, body, body_object: null, isDroppable: false }
    const row = { id, account, request_params: JSON.stringify(job.params) }
    await queueLiveCallbacks(tx, row, [message], { at, maxQueued: 1 })
  }
  if (hasWebhooks) await queueWebhooks(tx, job, [event], { at })
}

type CreatedJob = { kind: JobKind; createdAt: number }

async function recordToken(tx: Db, job: NewLiveJob, { createdAt }: CreatedJob): Promise<void> {
  const { id, token, keyHash = null } = job
  const row = { job_id: id, token, created_at: createdAt, ended_at: null, key_hash: keyHash }
  await tx.sql.insertInto('live_sessions').values(row).execute()
}

/** Indexes a job by its metadata. */
async function indexMetadata(tx: Db, job: NewJob, { kind, createdAt }: CreatedJob): Promise<void> {
  // This reads the metadata as it is stored, in which too large numbers are null, so that the
  // deletion of the job computes the same tokens.
  const stored = JSON.parse(JSON.stringify(job.customMetadata))
  const tokens = metadataTokens(job.account, stored)
  if (tokens.length === 0) return
  const rows = tokens.map((token) => sql`(${token}, ${createdAt}, ${job.id}, ${kind})`)
  await sql`insert into job_metadata (token, created_at, id, kind)
    values ${sql.join(rows)}`.execute(tx.sql)
}

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
  hasLocalAudio: boolean
  /** The time since which it has been waiting for disk space, by the clock of the queue. */
  spaceWaitSince: number | null
  params: Record<string, unknown>
  requestWarnings: readonly string[]
  file: JobFile
  /** Whether the job and its data are deleted after its result was delivered. */
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
  /** The most jobs of one account that are processed at a time. */
  maxPerAccount: number
  /**
   * Only jobs whose recording is stored here, or only those whose recording must still be fetched.
   */
  only?: 'local' | 'remote' | undefined
}

/** The condition that the recording of `waiting` has not been fetched yet. */
const unfetched = sql<SqlBool>`(waiting.file_source is not null
  and not exists (select 1 from files where files.id = waiting.file_id))`

/**
 * Claims the next waiting job for `owner`, if there is one: the oldest of the account with the
 * fewest running jobs. It is a single statement, so two owners cannot hold one job, an attempt is
 * counted before it begins, and the limit of an account holds.
 */
export function claimJob(db: Db, options: ClaimOptions): Promise<ClaimedJob | undefined> {
  return withLock(db, 'claims', (tx) => claim(tx, options))
}

async function claim(db: Db, options: ClaimOptions): Promise<ClaimedJob | undefined> {
  const { owner, now, leaseMs, maxAttempts, maxPerAccount, only } = options
  const isWanted = only
    ? only === 'local'
      ? sql`and not ${unfetched}`
      : sql`and ${unfetched}`
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
        and coalesce(running.jobs, 0) < ${maxPerAccount} ${isWanted}
      order by coalesce(running.jobs, 0), waiting.created_at, waiting.id
      limit 1 ${db.dialect.forUpdateSkipLocked('waiting')})
    returning *, file_source is null
      or exists (select 1 from files where files.id = file_id) as is_fetched`.execute(db.sql)
  const row = rows[0]
  return row && { ...toClaimedJob(row), hasLocalAudio: db.dialect.toBoolean(row.is_fetched) }
}

function toClaimedJob(row: JobRow): Omit<ClaimedJob, 'hasLocalAudio'> {
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
