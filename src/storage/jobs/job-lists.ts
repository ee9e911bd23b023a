import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { JobKind, JobStatus } from './jobs.ts'
import { metadataTokens } from './metadata-tokens.ts'

/** Which jobs of an account to list; all given conditions must hold. */
export type JobFilter = {
  account: string
  kinds?: readonly JobKind[] | undefined
  statuses?: readonly JobStatus[] | undefined
  /** Created at this time or later, in milliseconds since 1970. */
  from?: number | undefined
  /** Created before this time. */
  before?: number | undefined
  /** Keys and values that the metadata of a job must contain, compared as in the contract (2.4). */
  metadata?: Record<string, unknown> | undefined
}

/** The position of a job in every list: newest first, then by id. */
export type Place = { createdAt: number; id: string }

/** Which part of a list: what follows a position, or otherwise what follows an offset. */
export type Part = { offset: number; limit: number; after?: Place | undefined }

/** A job on a page, and the bytes of the texts in its row. */
export type ListedJob = Place & { bytes: number }

/** The jobs on one page, and whether more follow. */
export type JobPage = { places: ListedJob[]; more: boolean }

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

type Sql = RawBuilder<unknown>

/**
 * What a row holds of its job as text; the lengths are in the heads of rows, the texts not read.
 */
const texts = ['custom_metadata', 'post_session_metadata', 'request_params', 'result'] as const
const bytes = sql.join(
  texts.map((column) => sql`coalesce(octet_length(jobs.${sql.ref(column)}), 0)`),
  sql` + `,
)

/**
 * Returns one page of the jobs that pass a filter, newest first. Every statement walks indexes in
 * list order and stops at the end of the page. Nothing is sorted, and only the rows of the page are
 * read, except to check a status beside metadata. A metadata filter starts from its rarest
 * condition.
 */
export async function listJobs(db: Db, filter: JobFilter, part: Part): Promise<JobPage> {
  const tokens = metadataTokens(filter.account, filter.metadata ?? {})
  const streams = await chooseStreams(db, { ...filter, tokens }, part)
  const { rows } = await sql<{ created_at: number; id: string; bytes: number }>`
    select page.created_at, page.id, ${bytes} as bytes
      from (${sql.join(streams, sql` union all `)}
        order by created_at desc, id desc
        limit ${part.limit + 1} offset ${part.after ? 0 : part.offset}) as page
      join jobs on jobs.id = page.id
      order by page.created_at desc, page.id desc`.execute(db.readonly)
  const places = rows.map(({ created_at, id, bytes }) => ({ createdAt: created_at, id, bytes }))
  return { places: places.slice(0, part.limit), more: places.length > part.limit }
}

type Search = JobFilter & { tokens: readonly Buffer[] }

/**
 * Returns the ordered streams whose union is the list: those of the jobs, or the one of a metadata
 * token.
 */
async function chooseStreams(db: Db, search: Search, part: Part): Promise<Sql[]> {
  const { tokens } = search
  if (tokens.length === 0) {
    const streams = jobStreams(search, part)
    const isDeep = streams.length > 1 && !part.after && part.offset > MERGED_ROWS
    return isDeep ? [wholeStream(db, search, part)] : streams
  }
  const byStatus = filters(search.statuses, statuses)
  if (tokens.length === 1 && !byStatus) return [metadataStream(search, part, tokens[0]!)]
  const candidates = tokens.slice(0, COUNTED_TOKENS)
  const leads = candidates.map((token) => sql`select 1 from job_metadata where token = ${token}`)
  if (byStatus)
    leads.push(
      sql`select 1 from (${sql.join(jobStreams({ ...search, tokens: [] }, part), sql` union all `)}) as found`,
    )
  const counts = await countUpTo(db, leads)
  // If all are common the last one leads: a walk by status reads no job row.
  const token = candidates[counts.lastIndexOf(Math.min(...counts))]
  return token ? [metadataStream(search, part, token)] : jobStreams(search, part)
}

async function countUpTo(db: Db, searches: readonly Sql[]): Promise<number[]> {
  const counts = searches.map((search, i) => {
    const name = sql.ref(`count_${i}`)
    return sql`(select count(*) from (${search} limit ${COUNTED_ROWS}) as rows) as ${name}`
  })
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join(counts)}`.execute(db.readonly)
  return searches.map((_, i) => rows[0]![`count_${i}`]!)
}

/** Returns one stream per requested kind and status, all in list order. */
function jobStreams(search: Search, part: Part): Sql[] {
  const { account, tokens } = search
  const byKind = filters(search.kinds, kinds)
  const byStatus = filters(search.statuses, statuses)
  const wanted = byStatus ?? [undefined]
  // The index on status begins with the kind.
  const combinations = (byKind ?? (byStatus ? kinds : [undefined])).flatMap((kind) => {
    return wanted.map((status) => ({ kind, status }))
  })
  return combinations.map(
    ({ kind, status }) => sql`select created_at, id from (select created_at, id from jobs
      where account = ${account} ${kind ? sql`and kind = ${kind}` : sql``}
        ${status ? sql`and status = ${status}` : sql``} ${within(search, part)}
        ${hasTokens(tokens, sql.ref('jobs'))}
      order by created_at desc, id desc) as stream`,
  )
}

/** Returns the jobs of all requested kinds and statuses, by checking every job in list order. */
function wholeStream(db: Db, search: Search, part: Part): Sql {
  const byKind = filters(search.kinds, kinds)
  const byStatus = filters(search.statuses, statuses) ?? statuses
  // Otherwise the status index would be used, and its rows sorted.
  return sql`select created_at, id from jobs
    ${db.dialect.byIndex(byKind ? 'jobs_by_kind' : 'jobs_by_time')}
    where account = ${search.account} ${byKind ? sql`and kind = ${byKind[0]}` : sql``}
      and status in (${sql.join(byStatus)}) ${within(search, part)}`
}

/** Returns the jobs that have a metadata token and match everything else. */
function metadataStream(search: Search, part: Part, lead: Buffer): Sql {
  const byKind = filters(search.kinds, kinds)
  const byStatus = filters(search.statuses, statuses)
  const others = search.tokens.filter((token) => token !== lead)
  const hasStatus = sql`and exists (select 1 from jobs where jobs.id = m.id
    and jobs.status in (${sql.join(byStatus ?? [])}))`
  return sql`select m.created_at, m.id from job_metadata m where m.token = ${lead}
    ${byKind ? sql`and m.kind in (${sql.join(byKind)})` : sql``} ${within(search, part)}
    ${hasTokens(others, sql.ref('m'))} ${byStatus ? hasStatus : sql``}`
}

function within({ from, before }: JobFilter, { after }: Part): Sql {
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

/** Returns the values to filter by; undefined if none or all were requested. */
function filters<T>(wanted: readonly T[] | undefined, all: readonly T[]): T[] | undefined {
  const values = all.filter((value) => wanted?.includes(value))
  return values.length === 0 || values.length === all.length ? undefined : values
}
