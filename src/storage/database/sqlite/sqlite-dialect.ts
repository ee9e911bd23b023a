import { type SqlBool, sql } from 'kysely'
import { toFts5 } from '../../search/term-query.ts'
import type { Dialect } from '../dialect.ts'

/** Maximum utterances that an estimate counts; so many take some milliseconds. */
const MAX_COUNTED_UTTERANCES = 10_000

/** The SQL that SQLite words differently. */
export const sqliteDialect: Dialect = {
  isPipelined: true,
  now: () => sql`cast(unixepoch('subsec') * 1000 as integer)`,
  // This takes one parameter; a statement may have 32766.
  isIn: (value, values) =>
    sql`${value} in (select value from json_each(${JSON.stringify(values)}))`,
  jsonFields(column, fields) {
    const pairs = fields.map((field) => {
      return sql`${sql.lit(field)}, json_extract(${sql.ref(column)}, ${sql.lit(`$.${field}`)})`
    })
    return sql`json_object(${sql.join(pairs)})`
  },
  bytesOf: (hexTexts) => sql`(select unhex(value) as value from json_each(${hexTexts}))`,
  byIndex: (name) => sql`indexed by ${sql.ref(name)}`,
  withoutIndex: (column) => sql`${sql.ref(column)} || ''`,
  // Conditions are 0 and 1.
  toBoolean: (value) => value === 1,
  forKeyShare: sql``,
  forUpdateSkipLocked: () => sql``,
  search: {
    columns: sql`owner, terms`,
    values: (accountTerm, terms) => sql`${accountTerm}, ${terms.join(' ')}`,
    matchSql(accountTerm, query, jobIds) {
      const from = sql`utterance_terms join utterances u on u.id = utterance_terms.rowid`
      const where = sql<SqlBool>`utterance_terms match ${toFts5(accountTerm, query)}`
      if (!jobIds) return { from, where }
      // The utterances of a job have consecutive ids, except those that were indexed at the same
      // time as others. With a prefix, one range covers all jobs, so that the prefix is looked up
      // only once: each look-up gathers all words that begin with it.
      const isOneRange = query.some(({ must }) => must.some(({ isPrefix }) => isPrefix))
      const groupColumn = sql.raw(isOneRange ? "''" : 'job_id')
      const ranges = sql`(select ${groupColumn} as job, min(id) as first, max(id) as last from utterances
        where ${sqliteDialect.isIn(sql`job_id`, jobIds)} group by job) as range`
      const isInJob = isOneRange
        ? sqliteDialect.isIn(sql`u.job_id`, jobIds)
        : sql`u.job_id = range.job`
      const inRange = sql<SqlBool>`${where} and utterance_terms.rowid >= range.first
        and utterance_terms.rowid <= range.last and ${isInJob}`
      return { from: sql`${ranges} cross join ${from}`, where: inRange }
    },
    async estimate({ sql: database }, accountTerm, query) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from (
        select 1 from utterance_terms where utterance_terms match ${toFts5(accountTerm, query)}
        limit ${MAX_COUNTED_UTTERANCES})`.execute(database)
      return rows[0]!.count
    },
  },
  async eraseDeletedRows({ sql: database }) {
    await sql`pragma wal_checkpoint(truncate)`.execute(database)
  },
  isNoLowerNumberPending: () => sql`1 = 1`,
  isConflict: () => false,
  isOutcomeUnknown: () => false,
}
