import { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { checkVersion, migrate } from './migrate.ts'
import type { MigrateOptions } from './migration-progress.ts'
import {
  openConnection,
  type SqliteConnection,
  type SqliteOpenOptions,
} from './sqlite-connection.ts'
import { createSqliteDriver } from './sqlite-driver.ts'
import { openingError } from './sqlite-error.ts'

/**
 * How the version of the database is handled. A program beside the server must not change the
 * tables under it, so the version must be this program's own (`same`) or, for reading only, at
 * least a `known` one.
 */
export type OpenSqliteOptions = MigrateOptions & {
  version?: 'migrate' | 'same' | 'known'
  /** Whether only a few statements follow: a second thread would take longer than they do. */
  isBrief?: boolean
  connect?: ConnectSqlite | undefined
}

/** Opens a connection, by default in a thread. */
export type ConnectSqlite = (options: SqliteOpenOptions) => SqliteConnection

/**
 * Opens the database file, which it creates and migrates unless `version` says otherwise.
 * Statements run in threads, so none blocks its caller. Committed data survives a power loss.
 * Deleted rows are overwritten with zeros.
 */
export async function openSqlite(
  file: string,
  {
    version = 'migrate',
    isBrief = false,
    connect = openConnection,
    ...options
  }: OpenSqliteOptions = {},
): Promise<Kysely<Tables>> {
  const writer = connect({ file, readOnly: false })
  const reader = isBrief ? writer : openLater({ file, readOnly: true }, connect)
  const database = new Kysely<Tables>({ dialect: createSqliteDriver({ writer, reader }) })
  try {
    await (version === 'migrate' ? migrate(database, options) : checkVersion(database, version))
    return database
  } catch (error) {
    await database.destroy()
    throw openingError(error, file)
  }
}

/** Opens another connection to a database that is already open, for `select` only. */
export function openReadPool(
  file: string,
  connect: ConnectSqlite = openConnection,
): Kysely<Tables> {
  const reader = openLater({ file, readOnly: true }, connect)
  return new Kysely<Tables>({ dialect: createSqliteDriver({ writer: reader, reader }) })
}

/**
 * Opens a connection when it is first needed: before the first migration there is no file to read.
 */
function openLater(options: SqliteOpenOptions, connect: ConnectSqlite): SqliteConnection {
  let connection: SqliteConnection | undefined
  const open = () => {
    connection ??= connect(options)
    return connection
  }
  return {
    run: (...statement) => open().run(...statement),
    runBatch: (batch) => open().runBatch(batch),
    close: async () => connection?.close(),
  }
}
