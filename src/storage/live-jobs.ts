import { sql } from 'kysely'
import { type Db, inTransaction } from './db.ts'
import { insertFile } from './files.ts'
import type { JobStatus } from './jobs.ts'
import { ended, type JobFailure, type Lease, whereHeld } from './lease.ts'
import { recordSessionEnd } from './live-sessions.ts'
import type { ResultColumns } from './results.ts'
import type { JobRow } from './tables.ts'

/** What a session has to know of its job. */
export type LiveJob = {
  id: string
  account: string
  status: JobStatus
  createdAt: number
  params: Record<string, unknown>
  /** The object that its recording becomes. */
  fileId: string
}

/** Whose session a token is: its job, unless that was deleted, and whether it can take no sound any more. */
export type TokenHolder = { job: LiveJob | undefined; ended: boolean }

/** Finds whose a token is; undefined when nobody's, or when the session ended more than `grace` seconds ago. */
export async function findLiveJobByToken(
  db: Db,
  token: string,
  { now, grace }: { now: number; grace: number },
): Promise<TokenHolder | undefined> {
  const session = await db.sql
    .selectFrom('live_sessions')
    .select(['job_id', 'ended_at'])
    .where('token', '=', token)
    .executeTakeFirst()
  if (!session) return undefined
  const { ended_at } = session
  if (ended_at !== null && now > ended_at + grace * 1000) return undefined
  const row = await db.sql
    .selectFrom('jobs')
    .select(liveColumns)
    .where('id', '=', session.job_id)
    .executeTakeFirst()
  const isOpen = row?.status === 'queued' || row?.status === 'processing'
  return { job: row && toLiveJob(row), ended: !isOpen }
}

/** Every session that has not ended, oldest first: those that a new server takes up again. */
export async function listOpenLiveJobs(db: Db): Promise<LiveJob[]> {
  const rows = await db.sql
    .selectFrom('jobs')
    .select(liveColumns)
    .where('kind', '=', 'live')
    .where(isOpen)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toLiveJob)
}

/** How many sessions have not ended, of one account or of all. */
export async function countOpenLiveJobs(
  db: Db,
  { account }: { account?: string } = {},
): Promise<number> {
  let query = db.sql
    .selectFrom('jobs')
    .select((row) => row.fn.countAll<number>().as('open'))
    .where('kind', '=', 'live')
    .where(isOpen)
  if (account !== undefined) query = query.where('account', '=', account)
  const { open } = await query.executeTakeFirstOrThrow()
  return open
}

/**
 * Takes a session in hand, when its first socket connects and again after a restart: whoever had it
 * before can write no more. Undefined when it has ended or is gone.
 */
export async function beginLiveJob(
  db: Db,
  id: string,
  { owner }: { owner: string },
): Promise<Lease | undefined> {
  const row = await db.sql
    .updateTable('jobs')
    .set((job) => ({
      status: 'processing',
      lease_owner: owner,
      lease_epoch: job('lease_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .where('kind', '=', 'live')
    .where(isOpen)
    .returning('lease_epoch')
    .executeTakeFirst()
  return row && { id, epoch: row.lease_epoch }
}

/** What was recorded of a session, in the object of its job. */
export type Recorded = { size: number; duration: number; channels: number }

/** How a session ended: its stored result, and its recording unless nothing was recorded. */
export type LiveEnd = { result: ResultColumns; file: Recorded | undefined; at: number }

/**
 * Ends a session with its result. One transaction: result, recording and status appear together, and
 * the token ends with them. False, and no change, when the lease was lost.
 */
export function finishLiveJob(
  db: Db,
  lease: Lease,
  { result, file, at }: LiveEnd,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const job = await whereHeld(tx, lease)
      .set({ ...ended(at), ...result, status: 'done', file_duration: file?.duration ?? 0 })
      .returning(['account', 'file_id', 'completed_at'])
      .executeTakeFirst()
    if (!job) return false
    const { account, completed_at } = job
    await recordSessionEnd(tx, { id: lease.id, at: completed_at! })
    const form = { filename: null, source: null, extension: 'wav' }
    if (file) await insertFile(tx, { ...form, ...file, id: job.file_id!, account, createdAt: at })
    return true
  })
}

/**
 * Ends a session with the reason why it failed, beside what a client may have told about it. False,
 * and no change, when it has ended or is gone.
 */
export function failLiveJob(
  db: Db,
  id: string,
  { failure, at }: { failure: JobFailure; at: number },
): Promise<boolean> {
  const told = sql<string>`json_set(post_session_metadata, '$.failure', json(${JSON.stringify(failure)}))`
  return inTransaction(db, async (tx) => {
    const job = await tx.sql
      .updateTable('jobs')
      .set({ ...ended(at), status: 'error', error_code: failure.code, post_session_metadata: told })
      .where('id', '=', id)
      .where('kind', '=', 'live')
      .where(isOpen)
      .returning('completed_at')
      .executeTakeFirst()
    if (!job) return false
    await recordSessionEnd(tx, { id, at: job.completed_at! })
    return true
  })
}

/** As in the index on the jobs that have not ended. */
const isOpen = sql<boolean>`(status = 'queued' or status = 'processing')`

const liveColumns = [
  'id',
  'account',
  'status',
  'created_at',
  'request_params',
  'file_id',
] as const satisfies (keyof JobRow)[]

function toLiveJob(row: Pick<JobRow, (typeof liveColumns)[number]>): LiveJob {
  return {
    id: row.id,
    account: row.account,
    status: row.status,
    createdAt: row.created_at,
    params: JSON.parse(row.request_params ?? '{}') as Record<string, unknown>,
    fileId: row.file_id!,
  }
}
