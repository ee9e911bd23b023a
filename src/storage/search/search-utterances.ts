import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { UtteranceMatchSql } from '../database/dialect.ts'
import type { JobKind } from '../jobs/jobs.ts'
import { hasMetadata, type JobFilter, type ListCursor, listJobs } from '../jobs/lists/job-lists.ts'
import type { TermQuery } from './term-query.ts'
import { accountTermOf, type IndexedUtterance } from './utterance-index.ts'

/** The query, and the jobs to search; all given conditions must hold. */
export type SearchFilter = Omit<JobFilter, 'statuses'> & {
  query: TermQuery
  language?: string | undefined
  speaker?: number | undefined
}

/** An utterance that was found, and its job. */
export type SearchHit = Omit<IndexedUtterance, 'terms'> & {
  jobId: string
  kind: JobKind
  createdAt: number
  filename: string | null
  /** The utterances before and after it, in the order of the transcript. */
  before: string | null
  after: string | null
}

/** The offset and the size of a page. */
type ResultWindow = { offset: number; limit: number }

/** The number of jobs that are searched first, which takes some milliseconds. */
const FIRST_JOBS = 50
/** Maximum jobs of one part. Other searches run between two parts. */
const MAX_JOBS_PER_PART = 800
/** Maximum utterances that are read and sorted at once, which takes some tens of milliseconds. */
const MAX_SORTED_UTTERANCES = 10_000

/**
 * Returns one page of the utterances that match, and whether more follow. The latest job comes
 * first; within a job, utterances have the order of the transcript.
 *
 * If few utterances match the query, all of them are read and sorted. If many do, the latest jobs
 * hold enough of them, so the jobs of the filter are searched in parts, the latest first. Either
 * way the work is about that of the page, however many recordings there are. Walking through a
 * single index would not achieve that: it would read all utterances with a frequent word to find
 * those of one day.
 */
export async function searchUtterances(
  db: Db,
  filter: SearchFilter,
  { offset, limit }: ResultWindow,
): Promise<{ hits: SearchHit[]; more: boolean }> {
  const ids = await findIds(db, filter, { offset, limit: limit + 1 })
  const hits = await readHits(db, ids.slice(0, limit))
  return { hits, more: ids.length > limit }
}

async function findIds(
  db: Db,
  filter: SearchFilter,
  { offset, limit }: ResultWindow,
): Promise<number[]> {
  const { account, query } = filter
  const [{ search }, accountTerm] = [db.dialect, accountTermOf(account)]
  const all = await withPlan(db, (sql) => search.estimate({ sql }, accountTerm, query))
  if (all < MAX_SORTED_UTTERANCES) {
    return selectIds(db, filter, { found: search.matchSql(accountTerm, query), offset, limit })
  }
  const ids: number[] = []
  let skipCount = offset
  let after: ListCursor | undefined
  for (let jobs = FIRST_JOBS; ; jobs = Math.min(jobs * 2, MAX_JOBS_PER_PART)) {
    const part = { offset: 0, limit: jobs, after }
    const { rows: places, more } = await listJobs(db, { ...filter, statuses: ['done'] }, part)
    const matchingJobs = await selectMatchingJobs(db, filter, places)
    if (matchingJobs.length > 0) {
      const inJobs = search.matchSql(accountTerm, query, matchingJobs)
      const resultWindow = { offset: skipCount, limit: limit - ids.length }
      const foundIds = await selectIds(db, filter, { found: inJobs, ...resultWindow })
      ids.push(...foundIds)
      if (foundIds.length > 0) skipCount = 0
      else if (skipCount > 0) skipCount -= await countFound(db, filter, inJobs)
    }
    if (ids.length === limit || !more) return ids
    after = places.at(-1)
  }
}

/**
 * Returns the ids of the jobs with the speaker and the language of a filter. Looking these up takes
 * some microseconds per job; looking up its words takes some hundred.
 */
async function selectMatchingJobs(
  db: Db,
  { speaker, language }: SearchFilter,
  jobs: readonly ListCursor[],
): Promise<string[]> {
  const ids = jobs.map(({ id }) => id)
  const conditions = [
    ...(speaker === undefined ? [] : [sql`u.speaker = ${speaker}`]),
    ...(language === undefined ? [] : [sql`u.language = ${language}`]),
  ]
  if (conditions.length === 0 || ids.length === 0) return ids
  const { rows } = await sql<{ id: string }>`select id from jobs
    where ${db.dialect.isIn(sql`id`, ids)} and exists (select 1 from utterances u
      where u.job_id = jobs.id and ${sql.join(conditions, sql` and `)})`.execute(db.reader)
  return rows.map(({ id }) => id)
}

type SearchMatches = { found: UtteranceMatchSql }

async function selectIds(
  db: Db,
  filter: SearchFilter,
  { found, offset, limit }: SearchMatches & ResultWindow,
): Promise<number[]> {
  const rows = await withPlan(db, async (database) => {
    const selected = await sql<{ id: number }>`select u.id from ${matching(filter, found)}
      order by jobs.created_at desc, jobs.id desc, u.n
      limit ${limit} offset ${offset}`.execute(database)
    return selected.rows
  })
  return rows.map(({ id }) => id)
}

function countFound(db: Db, filter: SearchFilter, matchesSql: UtteranceMatchSql): Promise<number> {
  return withPlan(db, async (database) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count
      from ${matching(filter, matchesSql)}`.execute(database)
    return rows[0]!.count
  })
}

/** Returns `from` and its conditions for the utterances that match a query and a filter. */
function matching(
  { account, language, speaker, kinds, from, before, metadata }: SearchFilter,
  found: UtteranceMatchSql,
): RawBuilder<unknown> {
  const conditions: RawBuilder<unknown>[] = [
    found.where,
    sql`jobs.account = ${account}`,
    ...(language === undefined ? [] : [sql`u.language = ${language}`]),
    ...(speaker === undefined ? [] : [sql`u.speaker = ${speaker}`]),
    ...(kinds === undefined ? [] : [sql`jobs.kind in (${sql.join(kinds)})`]),
    ...(from === undefined ? [] : [sql`jobs.created_at >= ${from}`]),
    ...(before === undefined ? [] : [sql`jobs.created_at < ${before}`]),
    ...hasMetadata(account, metadata),
  ]
  return sql`${found.from} join jobs on jobs.id = u.job_id where ${sql.join(conditions, sql` and `)}`
}

/**
 * Reads utterances in the order of the given ids. Utterances that were deleted meanwhile are
 * omitted.
 */
async function readHits(db: Db, ids: readonly number[]): Promise<SearchHit[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<SearchHit & { id: number }>`
    select u.id, jobs.id as "jobId", jobs.kind, jobs.created_at as "createdAt",
      jobs.file_filename as filename, u.start, u."end", u.channel, u.speaker,
      u.speaker_name as "speakerName", u.language, u.text,
      (select text from utterances where job_id = u.job_id and n = u.n - 1) as before,
      (select text from utterances where job_id = u.job_id and n = u.n + 1) as after
    from utterances u join jobs on jobs.id = u.job_id
    where u.id in (${sql.join(ids)})`.execute(db.reader)
  const byId = new Map(rows.map(({ id, ...hit }) => [id, hit]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Runs a query for which the planner may use the index of terms. */
async function withPlan<T>(
  { dialect, reader }: Db,
  query: (sql: Db['reader']) => Promise<T>,
): Promise<T> {
  const { choosePlan } = dialect.search
  if (!choosePlan) return query(reader)
  return reader.transaction().execute(async (sql) => {
    await choosePlan({ sql })
    return query(sql)
  })
}
