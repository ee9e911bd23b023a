import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { SQLITE_VERSION } from '../sqlite/migrate.ts'
import type { MovedTable, Row, Value } from './moved-tables.ts'

/** The database of a data folder, for reading only. */
export type SourceDatabase = Disposable & {
  count(table: string): number
  /** Yields the rows of a table behind a key, in the order of the keys. */
  rows(table: MovedTable, after?: readonly Value[]): IterableIterator<Row>
}

/** Opens a database file for reading; throws unless it has the version of this program. */
export function openSource(file: string): SourceDatabase {
  if (!existsSync(file)) throw new Error(`Cannot find a database: ${file} (STENO_DATA_DIR)`)
  const database = new DatabaseSync(file, { readOnly: true })
  const { version } = database.prepare('select version from schema_version').get() as {
    version: number
  }
  if (version !== SQLITE_VERSION) {
    database.close()
    throw new Error(
      `Cannot move the database ${file}: it has version ${version}, this program knows version ${SQLITE_VERSION}; start a server of this version on it first`,
    )
  }
  return {
    count(table) {
      const row = database.prepare(`select count(*) as count from ${table}`).get()
      return (row as { count: number }).count
    },
    rows({ name, key }, after) {
      const columns = key.join()
      const marks = key.map(() => '?').join()
      const where = after ? `where (${columns}) > (${marks})` : ''
      const statement = database.prepare(`select * from ${name} ${where} order by ${columns}`)
      return statement.iterate(...(after ?? [])) as IterableIterator<Row>
    },
    [Symbol.dispose]: () => database.close(),
  }
}
