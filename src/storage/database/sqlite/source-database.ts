import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type {
  TransferredRow,
  TransferredTable,
  TransferredValue,
} from '../../transfer/transferred-tables.ts'
import { SQLITE_VERSION } from './migrate.ts'
import { openingError } from './sqlite-error.ts'

/** The database of a data folder, for reading only. */
export type SourceDatabase = Disposable & {
  /** Counts the rows of a table, or those after a key. */
  count(table: TransferredTable, after?: readonly TransferredValue[]): number
  /** Yields the rows of a table after a key, in the order of the keys. */
  rows(
    table: TransferredTable,
    after?: readonly TransferredValue[],
  ): IterableIterator<TransferredRow>
}

/** Opens a database file for reading; throws unless it has the version of this program. */
export function openSource(file: string): SourceDatabase {
  if (!existsSync(file)) throw new Error(`Cannot find a database: ${file} (STENO_DATA_DIR)`)
  const database = openChecked(file, checkSourceVersion)
  return {
    count(table, after) {
      const statement = database.prepare(`select count(*) as count ${from(table, after)}`)
      return (statement.get(...(after ?? [])) as { count: number }).count
    },
    rows(table, after) {
      const order = table.key.join()
      const statement = database.prepare(`select * ${from(table, after)} order by ${order}`)
      return statement.iterate(...(after ?? [])) as IterableIterator<TransferredRow>
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** Opens a database file for reading, and closes it if it does not pass a check. */
export function openChecked(
  file: string,
  check: (database: DatabaseSync, file: string) => void,
  { timeout = 0 }: { timeout?: number } = {},
): DatabaseSync {
  const location = isImmutable(file) ? immutableUrl(file) : file
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(location, { readOnly: true, timeout })
    check(database, file)
    return database
  } catch (error) {
    database?.close()
    throw openingError(error, file)
  }
}

/**
 * Returns whether SQLite must take a database file as one that nothing changes. Otherwise it first
 * creates a file for shared memory, which is impossible on a read-only file system, unless a server
 * has left one there with its log.
 */
export function isImmutable(file: string): boolean {
  return !existsSync(`${file}-wal`) && !isWritable(dirname(file))
}

function immutableUrl(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function checkSourceVersion(database: DatabaseSync, file: string): void {
  const row = database.prepare('select version from schema_version').get()
  const { version } = row as { version: number }
  if (version === SQLITE_VERSION) return
  throw new Error(
    `Cannot move the database ${file}: it has version ${version}, this program supports version ${SQLITE_VERSION}; start a server of this version on it first`,
  )
}

function from(
  { name, key }: TransferredTable,
  after: readonly TransferredValue[] | undefined,
): string {
  if (!after) return `from ${name}`
  return `from ${name} where (${key.join()}) > (${key.map(() => '?').join()})`
}
