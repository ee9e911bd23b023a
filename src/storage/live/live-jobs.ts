import { sql } from 'kysely'
import {
  type JobUsage,
  type LlmUsage,
  recordJobUsage,
  usageColumns,
} from '../accounts/usage/usage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { isAbandoned } from '../database/nodes/register-node.ts'
import type { JobRow } from '../database/tables.ts'
import {
  type LiveCallback,
  lastLiveCallback,
  liveCallbackBody,
  queueLiveCallbacks,
  queueWebhooks,
} from '../deliveries/queue-deliveries.ts'
import { endedColumns, type JobFailure } from '../jobs/finish-job.ts'
import { type JobStatus, readRequestWarnings, withField } from '../jobs/jobs.ts'
import type { SessionMessage } from '../jobs/queue/insert-job.ts'
import { type Lease, updateLeasedJob } from '../jobs/queue/lease.ts'
import type { ResultColumns } from '../jobs/results.ts'
import { insertRecording } from '../recordings/recordings.ts'
import { deleteBatches } from './session-batches.ts'
import { findSessionByToken, recordSessionEnd } from './session-tokens.ts'

/** The job of a session, as far as the session needs it. */
export type LiveJob = {
  id: string
  account: string
  status: JobStatus
  createdAt: number
  params: Record<string, unknown>
  requestWarnings: readonly string[]
  /** The object in which its recording is stored at the end. */
  fileId: string
  /**
   * Whether the job and its data is deleted after its result has been delivered; then its recording
   * is not stored at all.
   */
  zeroRetention: boolean
}

/** The session of a token: its job, unless that was deleted, and whether the session has ended. */
export type TokenSession = {
  job: LiveJob | undefined
  ended: boolean
  /** The hash of the key that created it; null if unknown. */
  keyHash: string | null
  /** The process that runs it, if its lease is still valid. */
  owner: string | undefined
}

/** Finds the session of a token and its job; undefined if `findSessionByToken` finds none. */
export async function findLiveJobByToken(
  db: Db,
  token: string,
  validity: { now: number; grace: number },
): Promise<TokenSession | undefined> {
  const session = await findSessionByToken(db, token, validity)
  if (!session) return undefined
  const row = await db.sql
    .selectFrom('jobs')
    .select(liveColumns)
    .select(ownerOf(db).as('owner'))
    .where('id', '=', session.jobId)
    .executeTakeFirst()
  const isOpen = row?.status === 'queued' || row?.status === 'processing'
  const owner = row?.owner ?? undefined
  return { job: row && toLiveJob(row), ended: !isOpen, keyHash: session.keyHash, owner }
}

/** The condition that no process runs a session: its owner is dead, or its lease is too old. */
function isUnleasedJob({ dialect }: Db) {
  return sql<boolean>`(${isAbandoned} or lease_until < ${dialect.now()})`
}

/** The process that runs a session; null if none does. */
function ownerOf(db: Db) {
  return sql<string | null>`case when ${isUnleasedJob(db)} then null else lease_owner end`
}

/** Returns the open sessions that no process runs, oldest first; a new server resumes them. */
export async function listOpenLiveJobs(db: Db): Promise<LiveJob[]> {
  const rows = await db.sql
    .selectFrom('jobs')
    .select(liveColumns)
    .where('kind', '=', 'live')
    .where(isOpen)
    .where(isUnleasedJob(db))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toLiveJob)
}

/**
 * The process that claims a session, and the time. With `onlyIfFree`, a session that another
 * process runs is not claimed.
 */
export type LiveClaim = { owner: string; at: number; onlyIfFree?: boolean }

/**
 * Claims a session, when its first client connects and after a restart. Its previous owner can no
 * longer write. Returns undefined if the session has ended, is deleted, or belongs to another
 * process.
 */
export function beginLiveJob(db: Db, id: string, claim: LiveClaim): Promise<Lease | undefined> {
  return inTransaction(db, (tx) => claimSession(tx, id, claim))
}

async function claimSession(
  tx: Db,
  id: string,
  { owner, at, onlyIfFree = false }: LiveClaim,
): Promise<Lease | undefined> {
  const isClaimable = sql<boolean>`(lease_owner = ${owner} or ${isUnleasedJob(tx)})`
  const row = await tx.sql
    .updateTable('jobs')
    .set((job) => ({
      status: 'processing',
      lease_owner: owner,
      lease_epoch: job('lease_epoch', '+', 1),
      lease_until: null,
    }))
    .where('id', '=', id)
    .where('kind', '=', 'live')
    .where(isOpen)
    .$if(onlyIfFree, (query) => query.where(isClaimable))
    .returning(['id', 'account', 'lease_epoch'])
    .executeTakeFirst()
  if (!row) return undefined
  if (row.lease_epoch === FIRST_EPOCH)
    await queueWebhooks(tx, row, ['live.start_recording'], { at })
  return { id, epoch: row.lease_epoch }
}

/**
 * Releases an open session: any process may claim it at once. Changes nothing if the lease was
 * lost.
 */
export async function releaseLiveJob(db: Db, lease: Lease): Promise<void> {
  await updateLeasedJob(db, lease).set({ lease_owner: null, lease_until: null }).execute()
}

/** Returns the owner of each of these sessions that has not ended; undefined if it has none. */
export async function findLiveOwners(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, string | undefined>> {
  const rows = await db.sql
    .selectFrom('jobs')
    .select('id')
    .select(ownerOf(db).as('owner'))
    .where(db.dialect.isIn(sql`id`, ids))
    .where('kind', '=', 'live')
    .where(isOpen)
    .execute()
  return new Map(rows.map(({ id, owner }) => [id, owner ?? undefined]))
}

/** Returns the owner that runs a session; undefined if there is none. */
export async function findLiveOwner(db: Db, id: string): Promise<string | undefined> {
  return (await findLiveOwners(db, [id])).get(id)
}

/** The epoch of the first connection. */
const FIRST_EPOCH = 1

/** The recorded audio of a session, in the object of its job. */
export type RecordedAudio = { size: number; duration: number; channels: number }

/** The end of a session: its stored result, and its recording if there is one. */
export type LiveEnd = {
  result: ResultColumns
  file: RecordedAudio | undefined
  at: number
  /** The tokens that language models used. */
  llm?: LlmUsage | undefined
  /** The last messages for its callback. */
  callbacks?: readonly LiveCallback[]
}

/**
 * Ends a session with its result. In one transaction, result, recording and status appear together,
 * and the token expires with them. Returns false, and changes nothing, if the lease was lost.
 */
export function finishLiveJob(
  db: Db,
  lease: Lease,
  { result, file, llm, at, callbacks = [] }: LiveEnd,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const job = await updateLeasedJob(tx, lease)
      .set({ ...endedColumns(at), ...result, status: 'done', file_duration: file?.duration ?? 0 })
      .returning(endColumns)
      .executeTakeFirst()
    if (!job) return false
    await recordEnd(tx, job, { file, at })
    await queueLiveCallbacks(tx, job, callbacks, { at, maxQueued: Number.POSITIVE_INFINITY })
    await recordJobUsage(tx, job, { ...jobUsageOf(file), llm })
    return true
  })
}

/** Why a session failed, and its recording if there is one. */
export type LiveFailure = {
  failure: JobFailure
  file?: RecordedAudio | undefined
  at: number
  /** The message that notifies its callback of the end, if the callback wants it. */
  endMessage?: SessionMessage | undefined
  /** Fails the session only if no client has connected yet, or only under this lease. */
  only?: 'queued' | Lease | undefined
}

/**
 * Ends a session with the reason why it failed, in addition to the metadata of its client. Reason
 * and recording appear together. Returns false, and changes nothing, if it has ended, is deleted,
 * or is not in the state that `only` requires.
 */
export function failLiveJob(
  db: Db,
  id: string,
  { failure, file, at, endMessage, only }: LiveFailure,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await tx.dialect.lockRows?.(tx, 'jobs', sql`id = ${id}`)
    const foundRow = await tx.sql
      .selectFrom('jobs')
      .select('post_session_metadata')
      .where('id', '=', id)
      .executeTakeFirst()
    const reported = withField(foundRow?.post_session_metadata ?? '{}', 'failure', failure)
    let change = tx.sql.updateTable('jobs').where('id', '=', id)
    if (only === 'queued') change = change.where('status', '=', 'queued')
    else if (only) change = updateLeasedJob(tx, only)
    const job = await change
      .where('kind', '=', 'live')
      .where(isOpen)
      .set({
        ...endedColumns(at),
        status: 'error',
        error_code: failure.code,
        post_session_metadata: reported,
      })
      .$if(file !== undefined, (query) => query.set({ file_duration: file!.duration }))
      .returning(endColumns)
      .executeTakeFirst()
    if (!job) return false
    await recordEnd(tx, job, { file, at })
    await queueEnd(tx, job, { endMessage, at })
    await recordJobUsage(tx, job, jobUsageOf(file))
    return true
  })
}

/** Queues the end message after everything already queued for the callback. */
async function queueEnd(
  tx: Db,
  job: Pick<JobRow, 'id' | 'account' | 'request_params'>,
  { endMessage, at }: Pick<LiveFailure, 'endMessage' | 'at'>,
): Promise<void> {
  const { id } = job
  const params = JSON.parse(job.request_params ?? '{}') as Record<string, unknown>
  const message = endMessage?.(params, { id, at })
  if (message === undefined) return
  const event = 'live.end_session'
  const body = liveCallbackBody({ id, event, message })
  const seq = ((await lastLiveCallback(tx, { jobId: id })) ?? -1) + 1
  const last = { seq, event, body, body_object: null, isDroppable: false }
  await queueLiveCallbacks(tx, job, [last], { at, maxQueued: 1 })
}

const endColumns = [
  ...usageColumns,
  'id',
  'file_id',
  'lease_epoch',
  'zero_retention',
] as const satisfies (keyof JobRow)[]
type EndColumn = (typeof endColumns)[number]

/**
 * Returns the usage of a session. All recorded audio counts, because it was recognized even if the
 * session failed.
 */
function jobUsageOf(file: RecordedAudio | undefined): JobUsage {
  const { duration = 0, channels = 0 } = file ?? {}
  return { audioSeconds: duration, channelSeconds: duration * channels }
}

/**
 * Records the end of a session, in the transaction that ends its job: its token expires, and its
 * recording appears.
 */
async function recordEnd(
  tx: Db,
  { id, account, file_id, completed_at, lease_epoch, zero_retention }: Pick<JobRow, EndColumn>,
  { file, at }: { file: RecordedAudio | undefined; at: number },
): Promise<void> {
  await recordSessionEnd(tx, { id, at: completed_at! })
  await deleteBatches(tx, id)
  const isBegun = lease_epoch >= FIRST_EPOCH
  const recordingEnd = isBegun ? (['live.end_recording'] as const) : []
  await queueWebhooks(tx, { id, account }, [...recordingEnd, 'live.end_session'], { at })
  const form = { filename: null, source: null, extension: 'wav' }
  if (file && zero_retention === 0)
    await insertRecording(tx, { ...form, ...file, id: file_id!, account, createdAt: at })
}

/** The condition for jobs that have not ended, worded like that of their index. */
const isOpen = sql<boolean>`(status = 'queued' or status = 'processing')`

const liveColumns = [
  'id',
  'account',
  'status',
  'created_at',
  'request_params',
  'request_warnings',
  'file_id',
  'zero_retention',
] as const satisfies (keyof JobRow)[]

function toLiveJob(row: Pick<JobRow, (typeof liveColumns)[number]>): LiveJob {
  return {
    id: row.id,
    account: row.account,
    status: row.status,
    createdAt: row.created_at,
    params: JSON.parse(row.request_params ?? '{}') as Record<string, unknown>,
    requestWarnings: readRequestWarnings(row),
    fileId: row.file_id!,
    zeroRetention: row.zero_retention === 1,
  }
}
