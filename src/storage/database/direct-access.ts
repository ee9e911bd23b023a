import { existsSync } from 'node:fs'
import type { DatabaseConfig } from '../../config/storage/database.ts'
import { databaseFile, makeDataFolder, refuseMissingDatabase } from '../data-folder/data-folder.ts'
import type { Database } from './db.ts'
import { FolderInUseError, lockFolder } from './sqlite/folder-lock.ts'
import type { MigrateOptions } from './sqlite/migration-progress.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { sqliteDialect } from './sqlite/sqlite-dialect.ts'

/** The location of the rows: a data folder, or the shared database. */
export type DatabaseLocation = { folder: string; database?: DatabaseConfig | undefined }

/** An open database for statements that end soon. */
export type DirectDatabase = Pick<Database, 'sql' | 'dialect'> & { close(): Promise<void> }

/** Opens the shared database if there is one, otherwise that of the data folder. */
export async function openDirect(
  { folder, database }: DatabaseLocation,
  options: { create: boolean } & MigrateOptions,
): Promise<DirectDatabase> {
  if (!database) {
    const { sql } = await openFolder(folder, options)
    return { sql, dialect: sqliteDialect, close: () => sql.destroy() }
  }
  const { openPostgres } = await import('./postgres/postgres.ts')
  // An empty database may get its tables, as an empty folder does; a database of another version is
  // left unchanged.
  const version = options.create ? 'create' : 'same'
  return openPostgres({ ...database, connections: 2 }, { version, signal: options.signal })
}

/**
 * Opens the database of a data folder on which a server may be running; with `create`, creates a
 * missing one. Only the process that holds the lock of the folder may migrate: beside a running
 * server the database must have the version of this program.
 */
async function openFolder(
  folder: string,
  { create, ...options }: { create: boolean } & MigrateOptions,
): Promise<Pick<Database, 'sql'>> {
  const file = databaseFile(folder)
  if (create) await makeDataFolder(folder).catch((cause) => refuseAccess(folder, cause))
  else if (!existsSync(file))
    throw new Error(`Cannot find a database in ${folder} (STENO_DATA_DIR)`)
  const lock = lockUnlessInUse(folder, file)
  try {
    if (lock) await refuseMissingDatabase(folder)
    const version = lock ? 'migrate' : 'same'
    return { sql: await openSqlite(file, { ...options, version, isBrief: true }) }
  } finally {
    lock?.release()
  }
}

function refuseAccess(folder: string, cause: Error): never {
  const remedy = 'set STENO_DATA_DIR to a folder of yours'
  throw new Error(`Cannot create the data folder ${folder}: ${cause.message}; ${remedy}`, { cause })
}

/** Checks the shared database as `examineDatabase` does; throws what would stop a server. */
export async function examineShared(database: DatabaseConfig): Promise<string> {
  const { databaseAddress: describe, openPostgres } = await import('./postgres/postgres.ts')
  const settings = { ...database, connections: 2, startSeconds: 0 }
  await (await openPostgres(settings, { version: 'known' })).close()
  return describe(database.url)
}

/**
 * Checks a data folder as a server does at its start, and throws whatever would stop the server.
 * Returns whether there is a database, and whether a server has it open. Changes nothing.
 */
export async function examineDatabase(folder: string): Promise<'none' | 'free' | 'in-use'> {
  const file = databaseFile(folder)
  await refuseMissingDatabase(folder)
  if (!existsSync(file)) return 'none'
  const lock = lockUnlessInUse(folder, file)
  try {
    await (await openSqlite(file, { version: 'known' })).destroy()
    return lock ? 'free' : 'in-use'
  } finally {
    lock?.release()
  }
}

/**
 * Returns the lock, or nothing if a server holds it. A server that has not created its database yet
 * is not disturbed.
 */
function lockUnlessInUse(folder: string, file: string) {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUseError && existsSync(file)) return undefined
    throw error
  }
}
