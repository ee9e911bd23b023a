import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { BatchRequest } from '../../database/group-commit.ts'
import { statement } from '../../database/statement.ts'
import {
  liveCallbackBody,
  queueLiveCallbacks,
  queueWebhooks,
} from '../../deliveries/queue-deliveries.ts'
import type { JobFile, JobKind } from '../jobs.ts'
import { metadataTokens } from '../lists/metadata-tokens.ts'

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
   * Whether the job and its data is deleted after its result has been delivered; by default they
   * are kept.
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
 * Maximum waiting jobs of an account. Live sessions do not wait for others, so all open ones
 * count.
 */
export type QueueLimit = { maxQueued: number }

/**
 * Queues a job with its notifications, in the caller's transaction; returns whether it did. A
 * single statement inserts the job: an account can never have more than `maxQueued` waiting, an
 * upload exists and belongs to the account at the moment its job is created, and `created_at` rises
 * from job to job, which gives lists their order.
 */
export async function insertJob(tx: Db, job: NewJob, { maxQueued }: QueueLimit): Promise<boolean> {
  const { kind = 'pre-recorded' } = job
  const values = jobValues(job, { maxQueued })
  const [queued] = await insert(tx, job, values)
  if (!queued) return false
  const created = { kind, createdAt: queued.created_at }
  const tokens = tokensOf(job)
  if (tokens) await indexMetadata(tx, { id: job.id, tokens })
  if (job.kind === 'live') await recordToken(tx, job, created)
  await queueCreationEvents(tx, job, {
    ...created,
    hasWebhooks: tx.dialect.toBoolean(queued.has_webhooks),
  })
  return true
}

/**
 * Returns the statements that queue a recorded job as `insertJob` does. They insert nothing if
 * there is more to do or to check: if the account has webhooks, or the job is refused.
 */
export function jobBatch(
  db: Db,
  job: NewRecordedJob,
  { maxQueued }: QueueLimit,
): BatchRequest<'created'> {
  const values = jobValues(job, { maxQueued })
  const { id: fileId, filename, source } = job.file
  const only = { withoutWebhooks: true }
  const inserted = source
    ? insertRemote.toQuery(db, { ...values, fileId, filename, source }, only)
    : insertUploaded.toQuery(db, { ...values, fileId }, only)
  const tokens = tokensOf(job)
  return {
    statements: tokens ? [inserted, indexMetadata.toQuery(db, { id: job.id, tokens })] : [inserted],
    result: ([jobs = []]) => (jobs.length > 0 ? 'created' : undefined),
  }
}

function jobValues(job: NewJob, { maxQueued }: QueueLimit): JobValues {
  const { id, account, createdAt } = job
  return {
    id,
    account,
    createdAt,
    maxQueued,
    runAfter: job.kind === 'live' ? createdAt : job.runAfter,
    params: job.paramsText ?? JSON.stringify(job.params),
    metadata: job.customMetadata && JSON.stringify(job.customMetadata),
    keyId: job.keyId ?? null,
    zeroRetention: job.zeroRetention ? 1 : 0,
    warnings: job.warnings?.length ? JSON.stringify(job.warnings) : null,
  }
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
  const any = { withoutWebhooks: false }
  if (job.kind === 'live') {
    return insertLive(tx, { ...values, fileId: randomUUID(), channels: job.channels }, any)
  }
  const { id: fileId, filename, source } = job.file
  if (source) return insertRemote(tx, { ...values, fileId, filename, source }, any)
  return insertUploaded(tx, { ...values, fileId }, any)
}

/** `withoutWebhooks`: whether only jobs of accounts without webhooks are inserted. */
type Accounts = { withoutWebhooks: boolean }

const noDuration = sql`cast(null as double precision)`

const insertLive = statement<
  JobValues & { fileId: string; channels: number },
  InsertedJob,
  Accounts
>((values, _dialect, accounts) =>
  insertion('live', values, {
    ...accounts,
    file: sql`select ${values.fileId} as id, null as filename, null as source,
      ${noDuration} as duration, cast(${values.channels} as integer) as channels`,
  }),
)

type RecordingToFetch = { fileId: string; filename: string | null; source: string }
const insertRemote = statement<JobValues & RecordingToFetch, InsertedJob, Accounts>(
  (values, _dialect, accounts) =>
    insertion('pre-recorded', values, {
      ...accounts,
      file: sql`select ${values.fileId} as id, ${values.filename} as filename,
      ${values.source} as source, ${noDuration} as duration, cast(null as integer) as channels`,
    }),
)

/** Inserts no row if the upload does not exist. */
const insertUploaded = statement<JobValues & { fileId: string }, InsertedJob, Accounts>(
  (values, dialect, accounts) =>
    insertion('pre-recorded', values, {
      ...accounts,
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
function insertion(
  kind: JobKind,
  values: JobValues,
  { file, withoutWebhooks }: Accounts & { file: RawBuilder<unknown> },
) {
  const { id, account, createdAt, maxQueued } = values
  const hasWebhooks = sql`exists (select 1 from endpoints
    where account = ${account} and kind = 'webhook')`
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
      and ${countsForLimit[kind]}) < ${maxQueued} ${withoutWebhooks ? sql`and not ${hasWebhooks}` : sql``}
    returning created_at, ${withoutWebhooks ? sql`false` : hasWebhooks} as has_webhooks`
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

/** The tokens of a job's metadata in hexadecimal, as a JSON list; undefined without any. */
function tokensOf({ account, customMetadata }: NewJob): string | undefined {
  if (!customMetadata) return undefined
  // This reads the metadata as it is stored, in which too large numbers are null, so that the
  // deletion of the job computes the same tokens.
  const stored = JSON.parse(JSON.stringify(customMetadata))
  const tokens = metadataTokens(account, stored)
  return tokens.length > 0
    ? JSON.stringify(tokens.map((token) => token.toString('hex')))
    : undefined
}

/** Indexes a job by the tokens of its metadata, if the job exists. */
const indexMetadata = statement<{ id: string; tokens: string }, never>(
  ({ id, tokens }, { bytesOf }) => sql`
    insert into job_metadata (token, created_at, id, kind)
    select tokens.value, jobs.created_at, jobs.id, jobs.kind
    from jobs cross join ${bytesOf(tokens)} tokens where jobs.id = ${id}`,
)
