import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { toFts5 } from '../search/term-query.ts'

/** The wording of SQLite. */
export const sqliteDialect: Dialect = {
  now: () => sql`cast(unixepoch('subsec') * 1000 as integer)`,
  // One parameter: a statement may have 32766.
  isIn: (value, values) =>
    sql`${value} in (select value from json_each(${JSON.stringify(values)}))`,
  jsonFields(column, fields) {
    const pairs = fields.map((field) => {
      return sql`${sql.lit(field)}, json_extract(${sql.ref(column)}, ${sql.lit(`$.${field}`)})`
    })
    return sql`json_object(${sql.join(pairs)})`
  },
  byIndex: (name) => sql`indexed by ${sql.ref(name)}`,
  withoutIndex: (column) => sql`${sql.ref(column)} || ''`,
  // Conditions are 0 and 1.
  toBoolean: (value) => value === 1,
  keepRows: sql``,
  takeRows: () => sql``,
  search: {
    columns: sql`owner, terms`,
    values: (owner, terms) => sql`${owner}, ${terms.join(' ')}`,
    // The index yields the rows in their order, as many as are read.
    find: (owner, query) => [
      {
        from: sql`utterance_terms join utterances u on u.id = utterance_terms.rowid`,
        where: sql`utterance_terms match ${toFts5(owner, query)}`,
        id: sql`utterance_terms.rowid`,
      },
    ],
  },
  async scrub({ sql: database }) {
    await sql`pragma wal_checkpoint(truncate)`.execute(database)
  },
  isSettled: () => sql`1 = 1`,
  isConflict: () => false,
}
