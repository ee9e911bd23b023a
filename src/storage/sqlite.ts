import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import { migrate } from './migrate.ts'
import { storageError } from './storage-error.ts'
import type { Tables } from './tables.ts'

/** How long a statement waits for another process, such as the command line, to end its own. */
const BUSY_TIMEOUT_MS = 5000

/**
 * Opens the database file, which it creates and migrates as needed. What a statement has committed
 * outlives a loss of power: WAL with a sync at each commit. Deleted rows are overwritten with zeros.
 */
export async function openSqlite(file: string): Promise<Kysely<Tables>> {
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  const database = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: adapt(connection) }),
  })
  try {
    for (const pragma of ['journal_mode = wal', 'synchronous = full', 'secure_delete = on']) {
      connection.exec(`pragma ${pragma}`)
    }
    await migrate(database)
    return database
  } catch (error) {
    if (connection.isOpen) connection.close()
    throw error
  }
}

/** Gives `node:sqlite` the shape of the driver that Kysely's dialect is written for. */
function adapt(connection: DatabaseSync): SqliteDatabase {
  return {
    close: () => connection.close(),
    prepare(sql) {
      if (sql === 'begin') {
        // A deferred transaction fails at its first write when another process wrote meanwhile.
        return prepare(connection, 'begin immediate')
      }
      if (sql === 'rollback' && !connection.isTransaction) {
        // SQLite has already rolled back (a full disk does that); the first error is the one to tell.
        return prepare(connection, 'select 1')
      }
      return prepare(connection, sql)
    },
  }
}

function prepare(connection: DatabaseSync, sql: string): ReturnType<SqliteDatabase['prepare']> {
  const statement = attempt(() => connection.prepare(sql))
  const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => attempt(() => statement.all(...bind(parameters))),
    run: (parameters) => attempt(() => statement.run(...bind(parameters))),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storageError(error)
  }
}
