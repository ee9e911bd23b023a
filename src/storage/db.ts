import type { Kysely } from 'kysely'
import type { Objects } from './objects/objects.ts'
import type { Tables } from './tables.ts'

/**
 * Where every statement reads and writes: rows in `sql`, and large values, whose id a row holds, in
 * `objects`. Searches that may take long go to `lists`, where nothing but another search waits for them.
 */
export type Db = {
  readonly sql: Kysely<Tables>
  readonly readonly: Kysely<Tables>
  readonly objects: Objects
}

/**
 * Runs `work` as one transaction, or as part of the one that `db` is; nothing else reaches the connection
 * until that has ended.
 */
export function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  if (db.sql.isTransaction) return work(db)
  return db.sql.transaction().execute((sql) => work({ ...db, sql }))
}
