import { Kysely } from 'kysely'
import { checkVersion, migrate } from './migrate.ts'
import { type OpenOptions, openConnection, type SqliteConnection } from './sqlite-connection.ts'
import { createSqliteDialect } from './sqlite-dialect.ts'
import type { Tables } from './tables.ts'

/** A program beside the server must not change the tables under it. */
export type OpenSqliteOptions = { migrate?: boolean }

/**
 * Opens the database file, which it creates and migrates as needed; without `migrate`, it must have
 * the version of this program. Statements run in threads, so none blocks its caller. What a statement
 * has committed outlives a loss of power. Deleted rows are overwritten with zeros.
 */
export async function openSqlite(
  file: string,
  options: OpenSqliteOptions = {},
): Promise<Kysely<Tables>> {
  const writer = openConnection({ file, readOnly: false })
  const reader = openLater({ file, readOnly: true })
  const database = new Kysely<Tables>({ dialect: createSqliteDialect({ writer, reader }) })
  try {
    await (options.migrate === false ? checkVersion(database) : migrate(database))
    return database
  } catch (error) {
    await database.destroy()
    throw error
  }
}

/** A connection that is made when it is first needed: before the first migration there is no file to read. */
function openLater(options: OpenOptions): SqliteConnection {
  let connection: SqliteConnection | undefined
  return {
    run(sql, parameters) {
      connection ??= openConnection(options)
      return connection.run(sql, parameters)
    },
    close: async () => connection?.close(),
  }
}
