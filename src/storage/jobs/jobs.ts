import { sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'
import { statement } from '../database/statement.ts'
import type { JobRow } from '../database/tables.ts'
import { type RedactedAudio, readRedactedAudio } from './redacted-audio.ts'
import { type ResultLocation, resultLocation } from './results.ts'

/** Recorded audio or a live session. */
export type JobKind = 'pre-recorded' | 'live'
/** The state of a job in its life cycle. */
export type JobStatus = 'queued' | 'processing' | 'done' | 'error'

/** The recording of a job, as far as it is known. */
export type JobFile = {
  id: string
  filename: string | null
  source: string | null
  duration: number | null
  channels: number | null
}

/** JSON as it is stored: most of it is passed on unparsed, and a page of jobs holds a lot of it. */
export type JsonText = string

/** One transcription requested by an account. Times are milliseconds since 1970. */
export type Job = {
  id: string
  account: string
  kind: JobKind
  status: JobStatus
  createdAt: number
  completedAt: number | null
  customMetadata: JsonText | null
  errorCode: number | null
  postSessionMetadata: JsonText
  requestParams: JsonText | null
  file: JobFile | null
  /** The recording kept in place of that file. */
  redactedAudio: RedactedAudio | null
  /** Where the result is stored; `readResult` reads it. */
  result: ResultLocation | null
  /** Whether the job and its data is deleted after its result has been delivered. */
  zeroRetention: boolean
}

/** A job by its id within an account. */
export type JobRef = { id: string; account: string; kind?: JobKind | undefined }

/** The columns that a `Job` is read from; the others are for its queue. */
export const jobColumns = [
  ...['id', 'account', 'kind', 'status', 'created_at', 'completed_at', 'error_code'],
  ...['custom_metadata', 'post_session_metadata', 'request_params', 'zero_retention'],
  ...['file_id', 'file_filename', 'file_source', 'file_duration', 'file_channels'],
  ...['result', 'result_object', 'result_size', 'redacted_object', 'redacted_size'],
] as const satisfies (keyof JobRow)[]
const columnList = sql.join(jobColumns.map((column) => sql.ref(column)))

const selectJob = statement<Pick<JobRef, 'id' | 'account'>, ViewedRow>(
  ({ id, account }) =>
    sql`select ${columnList} from jobs where id = ${id} and account = ${account}`,
)

/** Finds a job of one account, with its result; with `kind`, only a job of that kind. */
export async function findJob(db: Db, { id, account, kind }: JobRef): Promise<Job | undefined> {
  const [row] = await selectJob(db, { id, account })
  return row && (kind === undefined || row.kind === kind) ? toJob(row) : undefined
}

/** Finds several jobs of an account in the order of `ids`; deleted ones are left out. */
export async function findJobs(
  db: Db,
  { ids, account }: { ids: readonly string[]; account: string },
): Promise<Job[]> {
  // With the account in the statement, SQLite would use its index and walk all jobs of the account.
  const { rows } = await sql<ViewedRow>`select ${columnList} from jobs
    where ${db.dialect.isIn(sql.ref('id'), ids)}`.execute(db.reader)
  const ofAccount = rows.filter((row) => row.account === account)
  const jobs = new Map(ofAccount.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const row = jobs.get(id)
    return row ? [toJob(row)] : []
  })
}

/** Returns those of these jobs that have not ended. */
export async function filterActiveJobs(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.sql
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', ids)
    .where('status', 'in', ['queued', 'processing'])
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Replaces the metadata of a session, except for the reason why it failed; returns false if there
 * is no such job.
 */
export function replacePostSessionMetadata(
  db: Db,
  job: JobRef,
  metadata: JsonText,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await tx.dialect.lockRows?.(tx, 'jobs', sql`id = ${job.id}`)
    const found = await findJob(tx, job)
    if (!found) return false
    const { failure } = JSON.parse(found.postSessionMetadata) as { failure?: unknown }
    const isFailed = found.status === 'error' && failure !== undefined
    const replaced = isFailed ? withField(metadata, 'failure', failure) : metadata
    const change = tx.sql.updateTable('jobs').set({ post_session_metadata: replaced })
    await change.where('id', '=', job.id).execute()
    return true
  })
}

/**
 * Sets a field of an object in JSON text. Numbers beyond the precision of JavaScript stay
 * unchanged.
 */
export function withField(text: string, field: string, value: unknown): string {
  const exact = (_key: string, parsed: unknown, { source }: { source?: string }) => {
    return typeof parsed === 'number' ? rawJSON(source!) : parsed
  }
  return JSON.stringify({ ...JSON.parse(text, exact as never), [field]: value })
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/** A row of the columns that a `Job` is read from. */
export type ViewedRow = Pick<JobRow, (typeof jobColumns)[number]>

/** Reads a job from its row. */
export function toJob(row: ViewedRow): Job {
  return {
    id: row.id,
    account: row.account,
    kind: row.kind,
    status: row.status,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    customMetadata: row.custom_metadata,
    errorCode: row.error_code,
    postSessionMetadata: row.post_session_metadata,
    requestParams: row.request_params,
    file: toJobFile(row),
    redactedAudio: readRedactedAudio(row),
    result: resultLocation(row),
    zeroRetention: row.zero_retention === 1,
  }
}

type FileColumn = 'id' | 'filename' | 'source' | 'duration' | 'channels'

/**
 * Returns what the row of a job contains about its recording. This is little for a URL that has not
 * been fetched yet.
 */
export function toJobFile(row: Pick<JobRow, `file_${FileColumn}`>): JobFile | null {
  if (!row.file_id) return null
  return {
    id: row.file_id,
    filename: row.file_filename,
    source: row.file_source,
    duration: row.file_duration,
    channels: row.file_channels,
  }
}

/**
 * Returns those of the given jobs that have ended; of deleted jobs, only sessions that ended within
 * the last day.
 */
export async function findEndedJobs(db: Db, ids: readonly string[]): Promise<string[]> {
  const ended: string[] = []
  for (let i = 0; i < ids.length; i += IDS_PER_STATEMENT) {
    const rows = await db.sql
      .selectFrom('jobs')
      .select('id')
      .where('id', 'in', ids.slice(i, i + IDS_PER_STATEMENT))
      .where('completed_at', 'is not', null)
      .execute()
    // A deleted session leaves its token for a while.
    const tokens = await db.sql
      .selectFrom('live_sessions')
      .select('job_id')
      .where('job_id', 'in', ids.slice(i, i + IDS_PER_STATEMENT))
      .where('ended_at', 'is not', null)
      .execute()
    const foundIds = [...rows.map(({ id }) => id), ...tokens.map((token) => token.job_id)]
    ended.push(...new Set(foundIds))
  }
  return ended
}

/** The number of ids that fit into one statement of any database. */
const IDS_PER_STATEMENT = 500

/** Returns the warnings about the request of a job. */
export function readRequestWarnings(row: Pick<JobRow, 'request_warnings'>): readonly string[] {
  return JSON.parse(row.request_warnings ?? '[]') as string[]
}
