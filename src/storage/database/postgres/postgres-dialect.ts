import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { toTsQuery, toTsVector } from '../../search/term-query.ts'
import type { Dialect } from '../dialect.ts'
import { isConflict, isOutcomeUnknown } from './postgres-error.ts'

/**
 * Escapes that `json` refuses to read: the character of code 0 and lone surrogates. A backslash
 * that is itself escaped does not begin an escape.
 */
const UNREADABLE = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`

/** The SQL that differs in PostgreSQL. */
export const postgresDialect: Omit<Dialect, 'eraseDeletedRows'> = {
  now: () => sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  isIn: (value, values) => sql`${value} = any(${values})`,
  jsonFields(column, fields) {
    const text = sql`regexp_replace(${sql.ref(column)}, ${sql.lit(UNREADABLE)}, '\\1', 'g')`
    const pairs = fields.map((field) => sql`${sql.lit(field)}, ${text}::json -> ${sql.lit(field)}`)
    return sql`json_build_object(${sql.join(pairs)})::text`
  },
  bytesOf: (hexTexts) => sql`(select decode(text, 'hex') as value
    from json_array_elements_text(cast(${hexTexts} as json)) as listed(text))`,
  // The planner takes no hints; settings of the connections for searches keep it to indexes.
  byIndex: () => sql``,
  withoutIndex: (column) => sql`${sql.ref(column)} || ''`,
  toBoolean: (value) => value === true,
  async lock({ sql: database }, name) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(database)
  },
  async lockRows({ sql: database }, table, condition) {
    await sql`select 1 from ${sql.table(table)} where ${condition} for update`.execute(database)
  },
  forKeyShare: sql`for key share`,
  forUpdateSkipLocked: (table): RawBuilder<unknown> =>
    sql`for update of ${sql.table(table)} skip locked`,
  search: {
    columns: sql`terms`,
    values: (accountTerm, terms) => sql`${toTsVector(accountTerm, terms)}::tsvector`,
    matchSql(accountTerm, query, jobIds) {
      const where = sql<SqlBool>`u.terms @@ ${toTsQuery(accountTerm, query)}::tsquery`
      if (!jobIds) return { from: sql`utterances u`, where }
      // `offset 0` keeps the planner from using the index of terms: it underestimates how often
      // frequent terms occur together.
      const inJobs = sql`(select * from utterances where job_id = any(${jobIds}) offset 0)`
      return { from: sql`${inJobs} u`, where }
    },
    // This uses the statistics of the planner on frequent terms, because counting the utterances
    // takes as long as finding them.
    async estimate({ sql: database }, accountTerm, query) {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (format json)
        select 1 from utterances where terms @@ ${toTsQuery(accountTerm, query)}::tsquery`.execute(
        database,
      )
      const [{ Plan }] = JSON.parse(rows[0]!['QUERY PLAN']) as [{ Plan: { 'Plan Rows': number } }]
      return Plan['Plan Rows']
    },
    async choosePlan({ sql: database }) {
      const names = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']
      const settings = names.map((name) => sql`set_config(${`enable_${name}`}, 'on', true)`)
      await sql`select ${sql.join(settings)}`.execute(database)
    },
  },
  isNoLowerNumberPending: (column) =>
    sql`${sql.ref(column)} < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
  isConflict,
  isOutcomeUnknown,
}
