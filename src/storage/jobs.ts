import { sql } from 'kysely'
import type { Db } from './db.ts'
import { type JobResult, loadResult } from './results.ts'
import type { JobRow } from './tables.ts'

/** Recorded audio or a live session. */
export type JobKind = 'pre-recorded' | 'live'
/** Where a job is in its life (contract 3.2). */
export type JobStatus = 'queued' | 'processing' | 'done' | 'error'

/** The recording of a job, as far as it is known. */
export type JobFile = {
  id: string
  filename: string | null
  source: string | null
  duration: number | null
  channels: number | null
}

/** One transcription asked for by an account. Moments are milliseconds since 1970. */
export type Job = {
  id: string
  account: string
  kind: JobKind
  status: JobStatus
  createdAt: number
  completedAt: number | null
  customMetadata: Record<string, unknown> | null
  errorCode: number | null
  postSessionMetadata: Record<string, unknown>
  requestParams: Record<string, unknown> | null
  file: JobFile | null
  result: JobResult | null
}

/** A job by its id within an account. */
export type JobId = { id: string; account: string; kind?: JobKind | undefined }

/** Finds a job of one account, with its result; with `kind`, only a job of that kind. */
export async function findJob(db: Db, { id, account, kind }: JobId): Promise<Job | undefined> {
  let query = db.sql
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .where('account', '=', account)
  if (kind) query = query.where('kind', '=', kind)
  const row = await query.executeTakeFirst()
  return row && toJob(db, row)
}

/** Which part of the jobs of an account to list. */
export type ListOptions = {
  account: string
  /** All kinds when absent. */
  kinds?: readonly JobKind[] | undefined
  offset: number
  limit: number
}

/**
 * The ids of one page of an account's jobs, newest first. The statement walks an index that holds all
 * it needs, so a deep page skips index entries and never reads a row.
 */
export async function listJobIds(
  db: Db,
  { account, kinds, offset, limit }: ListOptions,
): Promise<{ ids: string[]; more: boolean }> {
  let page = db.sql
    .selectFrom('jobs')
    .select('id')
    .where('account', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit + 1)
  const [kind, other] = new Set(kinds)
  if (kind && !other) page = page.where('kind', '=', kind)
  const rows = await page.execute()
  return { ids: rows.slice(0, limit).map(({ id }) => id), more: rows.length > limit }
}

/** Objects that lost their last row, for the caller to delete. */
export type DeletedJob = { objects: string[] }

/**
 * Deletes a job that has ended, and its file when no other job uses it; undefined when there is no
 * such job or it has not ended. The status is judged by the deleting statement itself.
 */
export async function deleteEndedJob(
  tx: Db,
  { id, account, kind }: JobId,
): Promise<DeletedJob | undefined> {
  const { rows } = await sql<Pick<JobRow, 'file_id' | 'result_object'>>`
    delete from jobs
    where id = ${id} and account = ${account} and (status = 'done' or status = 'error')
      and kind = ${kind ?? sql.ref('kind')}
    returning file_id, result_object`.execute(tx.sql)
  const job = rows[0]
  if (!job) return undefined
  const objects = job.result_object ? [job.result_object] : []
  if (job.file_id && (await deleteFileWithoutJobs(tx, job.file_id))) objects.push(job.file_id)
  return { objects }
}

/** Forgets a file unless a job still uses it; tells whether nothing uses it now. */
async function deleteFileWithoutJobs(tx: Db, id: string): Promise<boolean> {
  const { rows } = await sql<{ used: number }>`
    select count(*) as used from jobs where file_id = ${id}`.execute(tx.sql)
  if (rows[0]!.used > 0) return false
  await tx.sql.deleteFrom('files').where('id', '=', id).execute()
  return true
}

async function toJob(db: Db, row: JobRow): Promise<Job | undefined> {
  const result = await loadResult(db, row)
  if (result === undefined) return undefined
  return {
    id: row.id,
    account: row.account,
    kind: row.kind,
    status: row.status,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    customMetadata: parse(row.custom_metadata),
    errorCode: row.error_code,
    postSessionMetadata: parse(row.post_session_metadata) ?? {},
    requestParams: parse(row.request_params),
    file: toJobFile(row),
    result,
  }
}

/** What the job knows of its recording, which for an address is little until it was fetched. */
export function toJobFile(row: JobRow): JobFile | null {
  if (!row.file_id) return null
  return {
    id: row.file_id,
    filename: row.file_filename,
    source: row.file_source,
    duration: row.file_duration,
    channels: row.file_channels,
  }
}

function parse(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
}
