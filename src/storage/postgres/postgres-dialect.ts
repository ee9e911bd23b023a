import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { toTsQuery, toTsVector } from '../search/term-query.ts'
import { isConflict } from './postgres-error.ts'

/**
 * Escapes that `json` refuses to read: the character of code 0 and lone surrogates. A backslash
 * that is itself escaped begins none.
 */
const UNREADABLE = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`

/** Utterances that are walked through in some milliseconds. */
const WALKED_UTTERANCES = 5000

/** The wording of PostgreSQL. */
export const postgresDialect: Omit<Dialect, 'scrub'> = {
  now: () => sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  isIn: (value, values) => sql`${value} = any(${values})`,
  jsonFields(column, fields) {
    const text = sql`regexp_replace(${sql.ref(column)}, ${sql.lit(UNREADABLE)}, '\\1', 'g')`
    const pairs = fields.map((field) => sql`${sql.lit(field)}, ${text}::json -> ${sql.lit(field)}`)
    return sql`json_build_object(${sql.join(pairs)})::text`
  },
  // The planner takes no hints; settings of the connections for searches keep it to indexes.
  byIndex: () => sql``,
  withoutIndex: (column) => sql`${sql.ref(column)} || ''`,
  toBoolean: (value) => value === true,
  async lock({ sql: database }, name) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(database)
  },
  async lockRows({ sql: database }, table, which) {
    await sql`select 1 from ${sql.table(table)} where ${which} for update`.execute(database)
  },
  keepRows: sql`for key share`,
  takeRows: (table): RawBuilder<unknown> => sql`for update of ${sql.table(table)} skip locked`,
  search: {
    columns: sql`terms`,
    values: (owner, terms) => sql`${toTsVector(owner, terms)}::tsvector`,
    // The index yields all rows at once, in no order: for frequent terms a walk through the latest
    // ones is faster. `+ 0` keeps the planner from such a walk for rare ones.
    find(owner, query) {
      const from = sql`utterances u`
      const where = sql<SqlBool>`u.terms @@ ${toTsQuery(owner, query)}::tsquery`
      const latest = sql`(select max(id) from utterances) - ${WALKED_UTTERANCES}`
      return [
        { from, where: sql<SqlBool>`${where} and u.id > ${latest}`, id: sql`u.id` },
        { from, where, id: sql`u.id + 0` },
      ]
    },
    async choosePlan({ sql: database }) {
      const names = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']
      const settings = names.map((name) => sql`set_config(${`enable_${name}`}, 'on', true)`)
      await sql`select ${sql.join(settings)}`.execute(database)
    },
  },
  isSettled: (tx) => sql`${sql.ref(tx)} < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
  isConflict,
}
