import type { Kysely } from 'kysely'
import type { Dialect } from './dialect.ts'
import type { Objects } from './objects/objects.ts'
import type { Tables } from './tables.ts'

/**
 * The handle that every statement reads and writes through: rows in `sql`, and large values in
 * `objects`, whose ids rows hold; `dialect` words what databases word differently. Queries that may take long use `readonly`, where only other such
 * queries wait for them.
 */
export type Db = {
  readonly sql: Kysely<Tables>
  readonly readonly: Kysely<Tables>
  readonly objects: Objects
  readonly dialect: Dialect
  /** The id under which this process claims what it works on. */
  readonly owner: string
}

/**
 * Runs `work` as one transaction, or as part of the one that `db` is. Nothing else reaches the
 * connection until it has ended.
 */
export function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  if (db.sql.isTransaction) return work(db)
  return db.sql.transaction().execute((sql) => work({ ...db, sql }))
}
