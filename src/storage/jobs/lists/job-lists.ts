import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'
import {
  type Job,
  type JobKind,
  type JobStatus,
  jobColumns,
  toJob,
  type ViewedRow,
} from '../jobs.ts'
import { metadataTokens } from './metadata-tokens.ts'

/** Selects jobs of an account; all given conditions must hold. */
export type JobFilter = {
  account: string
  kinds?: readonly JobKind[] | undefined
  statuses?: readonly JobStatus[] | undefined
  /** Created at this time or later, in milliseconds since 1970. */
  from?: number | undefined
  /** Created before this time. */
  before?: number | undefined
  /** Keys and values that the metadata of a job must contain, see `metadata-tokens.ts`. */
  metadata?: Record<string, unknown> | undefined
}

/** The position of a job in every list: newest first, then by id. */
export type ListCursor = { createdAt: number; id: string }

/**
 * Selects a part of a list: what follows a position or, without one, an offset. `withJobs` also
 * reads the short jobs themselves.
 */
export type PageRequest = {
  offset: number
  limit: number
  after?: ListCursor | undefined
  withJobs?: boolean | undefined
}

/** A job on a page, with the bytes of the texts in its row, and the job itself if it was read. */
export type ListedJob = ListCursor & { bytes: number; job: Job | undefined }

/** The jobs on one page, and whether more follow. */
export type JobPage = { rows: ListedJob[]; more: boolean }

const kinds: readonly JobKind[] = ['pre-recorded', 'live']
const statuses: readonly JobStatus[] = ['queued', 'processing', 'done', 'error']

/**
 * The number of rows counted to find the rarest condition; reading as many takes well under a
 * millisecond.
 */
const COUNTED_ROWS = 2000

/** The number of conditions counted; more would take longer than the list. */
const COUNTED_TOKENS = 20

/** Several streams are merged up to this offset; beyond it one walk over all jobs is faster. */
const MERGED_ROWS = 20_000

/**
 * Maximum bytes of texts of a short job. The first pages of most lists contain only jobs that wait
 * or run, and a page of a thousand short jobs is a message of some megabytes.
 */
const SHORT_JOB_BYTES = 4096

type Sql = RawBuilder<unknown>

/**
 * The columns with the texts of a job. Their lengths are stored at the start of a row, so the texts
 * need not be read.
 */
const texts: readonly string[] = [
  ...['custom_metadata', 'post_session_metadata', 'request_params', 'result'],
]
const bytes = sql.join(
  texts.map((column) => sql`coalesce(octet_length(jobs.${sql.ref(column)}), 0)`),
  sql` + `,
)
/** The columns of a job; those of a long one are null. */
const shortJob = sql.join(
  jobColumns.map((column) => {
    const value = sql`jobs.${sql.ref(column)}`
    if (!texts.includes(column)) return value
    return sql`case when ${bytes} <= ${sql.lit(SHORT_JOB_BYTES)} then ${value} end as ${sql.ref(column)}`
  }),
)

type ListedRow = Pick<ViewedRow, 'id' | 'created_at'> & { bytes: number } & Partial<ViewedRow>

/**
 * Returns one page of the jobs that pass a filter, newest first. Every statement walks indexes in
 * list order and stops at the end of the page. Nothing is sorted, and only the rows of the page are
 * read, except to check a status beside metadata. A metadata filter starts from its rarest
 * condition.
 */
export async function listJobs(db: Db, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  const foundPage = await selectPage(db, filter, page)
  const rows = foundPage.slice(0, page.limit).map((row): ListedJob => {
    const isRead = page.withJobs && row.bytes <= SHORT_JOB_BYTES
    const job = isRead ? toJob(row as ViewedRow) : undefined
    return { createdAt: row.created_at, id: row.id, bytes: row.bytes, job }
  })
  return { rows, more: foundPage.length > page.limit }
}

async function selectPage(db: Db, filter: JobFilter, page: PageRequest): Promise<ListedRow[]> {
  const tokens = metadataTokens(filter.account, filter.metadata ?? {})
  if (tokens.length === 0 && !isDeep(filter, page)) return selectJobs(db, filter, page)
  const streams = await chooseStreams(db, { ...filter, tokens }, page)
  const { rows } = await pageQuery(streams, page).execute(db.reader)
  return rows
}

/**
 * Returns the query for the first `limit` jobs of some streams and the one after, which shows that
 * there are more.
 */
function pageQuery(
  streams: readonly Sql[],
  { limit, offset, after, withJobs }: PageRequest,
): RawBuilder<ListedRow> {
  return sql`
    select ${withJobs ? shortJob : sql`page.created_at, page.id`}, ${bytes} as bytes
      from (${sql.join(streams, sql` union all `)}
        order by created_at desc, id desc
        limit ${limit} + 1 offset ${after ? 0 : offset}) as page
      join jobs on jobs.id = page.id
      order by page.created_at desc, page.id desc`
}

type PageValues = Record<'account' | 'id', string> &
  Record<'from' | 'before' | 'createdAt' | 'limit' | 'offset', number>

/** The conditions of a list without metadata. */
type PageShape = Pick<JobFilter, 'kinds' | 'statuses'> &
  Record<'from' | 'before' | 'after' | 'withJobs', boolean>

const selectJobPage = statement<PageValues, ListedRow, PageShape>((values, _dialect, shape) => {
  const { limit, offset, createdAt, id } = values
  const after = shape.after ? { createdAt, id } : undefined
  const page = { limit, offset, after, withJobs: shape.withJobs }
  const from = shape.from ? values.from : undefined
  const before = shape.before ? values.before : undefined
  const search = { ...shape, account: values.account, from, before, tokens: [] }
  return pageQuery(jobStreams(search, page), page)
})

function selectJobs({ reader: sql, dialect }: Db, filter: JobFilter, page: PageRequest) {
  const { account, from = 0, before = 0 } = filter
  const { limit, offset, after, withJobs = false } = page
  const { createdAt, id } = after ?? { createdAt: 0, id: '' }
  const shape = {
    kinds: selectionOf(filter.kinds, kinds),
    statuses: selectionOf(filter.statuses, statuses),
    from: filter.from !== undefined,
    before: filter.before !== undefined,
    after: after !== undefined,
    withJobs,
  }
  return selectJobPage(
    { sql, dialect },
    { account, from, before, createdAt, id, limit, offset },
    shape,
  )
}

type Search = JobFilter & { tokens: readonly Buffer[] }

/**
 * Returns the ordered streams whose union is the list: those of the jobs, or the one of a metadata
 * token.
 */
async function chooseStreams(db: Db, search: Search, page: PageRequest): Promise<Sql[]> {
  const { tokens } = search
  if (tokens.length === 0) return [wholeStream(db, search, page)]
  const byStatus = selectionOf(search.statuses, statuses)
  if (tokens.length === 1 && !byStatus) return [metadataStream(search, page, tokens[0]!)]
  const candidates = tokens.slice(0, COUNTED_TOKENS)
  const candidateQueries = candidates.map(
    (token) => sql`select 1 from job_metadata where token = ${token}`,
  )
  if (byStatus)
    candidateQueries.push(
      sql`select 1 from (${sql.join(jobStreams({ ...search, tokens: [] }, page), sql` union all `)}) as found`,
    )
  const counts = await countUpTo(db, candidateQueries)
  // If all conditions are common, the last one is taken: a walk by status reads no job row.
  const token = candidates[counts.lastIndexOf(Math.min(...counts))]
  return token ? [metadataStream(search, page, token)] : jobStreams(search, page)
}

async function countUpTo(db: Db, searches: readonly Sql[]): Promise<number[]> {
  const counts = searches.map((search, i) => {
    const name = sql.ref(`count_${i}`)
    return sql`(select count(*) from (${search} limit ${COUNTED_ROWS}) as rows) as ${name}`
  })
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join(counts)}`.execute(db.reader)
  return searches.map((_, i) => rows[0]![`count_${i}`]!)
}

/**
 * Returns whether a page without a metadata filter begins so far behind that its streams are not
 * merged.
 */
function isDeep(filter: JobFilter, { offset, after }: PageRequest): boolean {
  return !after && offset > MERGED_ROWS && streamsOf(filter).length > 1
}

/** Returns one stream per requested kind and status, all in list order. */
function jobStreams(search: Search, page: PageRequest): Sql[] {
  const { account, tokens } = search
  return streamsOf(search).map(
    ({ kind, status }) => sql`select created_at, id from (select created_at, id from jobs
      where account = ${account} ${kind ? sql`and kind = ${kind}` : sql``}
        ${status ? sql`and status = ${status}` : sql``} ${rangeConditions(search, page)}
        ${hasTokens(tokens, sql.ref('jobs'))}
      order by created_at desc, id desc) as stream`,
  )
}

function streamsOf(search: Pick<JobFilter, 'kinds' | 'statuses'>) {
  const byKind = selectionOf(search.kinds, kinds)
  const byStatus = selectionOf(search.statuses, statuses)
  const statusFilters = byStatus ?? [undefined]
  // The index on status begins with the kind.
  return (byKind ?? (byStatus ? kinds : [undefined])).flatMap((kind) => {
    return statusFilters.map((status) => ({ kind, status }))
  })
}

/** Returns the jobs of all requested kinds and statuses, by checking every job in list order. */
function wholeStream(db: Db, search: Search, page: PageRequest): Sql {
  const byKind = selectionOf(search.kinds, kinds)
  const byStatus = selectionOf(search.statuses, statuses) ?? statuses
  // Without the hint, the status index would be used, and its rows would be sorted.
  return sql`select created_at, id from jobs
    ${db.dialect.byIndex(byKind ? 'jobs_by_kind' : 'jobs_by_time')}
    where account = ${search.account} ${byKind ? sql`and kind = ${byKind[0]}` : sql``}
      and status in (${sql.join(byStatus)}) ${rangeConditions(search, page)}`
}

/** Returns the jobs that have a metadata token and match everything else. */
function metadataStream(search: Search, page: PageRequest, token: Buffer): Sql {
  const byKind = selectionOf(search.kinds, kinds)
  const byStatus = selectionOf(search.statuses, statuses)
  const otherTokens = search.tokens.filter((other) => other !== token)
  const hasStatus = sql`and exists (select 1 from jobs where jobs.id = m.id
    and jobs.status in (${sql.join(byStatus ?? [])}))`
  return sql`select m.created_at, m.id from job_metadata m where m.token = ${token}
    ${byKind ? sql`and m.kind in (${sql.join(byKind)})` : sql``} ${rangeConditions(search, page)}
    ${hasTokens(otherTokens, sql.ref('m'))} ${byStatus ? hasStatus : sql``}`
}

function rangeConditions({ from, before }: JobFilter, { after }: PageRequest): Sql {
  const conditions = [
    from === undefined ? sql`` : sql`and created_at >= ${from}`,
    before === undefined ? sql`` : sql`and created_at < ${before}`,
    after ? sql`and (created_at, id) < (${after.createdAt}, ${after.id})` : sql``,
  ]
  return sql.join(conditions, sql` `)
}

/** Returns the conditions that a row of `jobs` has this metadata; none without metadata. */
export function hasMetadata(
  account: string,
  metadata: Record<string, unknown> | undefined,
): RawBuilder<unknown>[] {
  const tokens = metadataTokens(account, metadata ?? {})
  if (tokens.length === 0) return []
  return [
    sql`(select count(*) from job_metadata o where o.token in (${sql.join(tokens)})
      and o.created_at = jobs.created_at and o.id = jobs.id) = ${tokens.length}`,
  ]
}

function hasTokens(tokens: readonly Buffer[], job: Sql): Sql {
  if (tokens.length === 0) return sql``
  return sql`and (select count(*) from job_metadata o where o.token in (${sql.join(tokens)})
    and o.created_at = ${job}.created_at and o.id = ${job}.id) = ${tokens.length}`
}

/** Returns the values to filter by; undefined if none or all are selected. */
function selectionOf<T>(
  selectedValues: readonly T[] | undefined,
  all: readonly T[],
): T[] | undefined {
  const values = all.filter((value) => selectedValues?.includes(value))
  return values.length === 0 || values.length === all.length ? undefined : values
}
