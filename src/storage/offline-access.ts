import { existsSync } from 'node:fs'
import { databaseFile, makeDataFolder, refuseMissingDatabase } from './data-folder.ts'
import type { Db } from './db.ts'
import { FolderInUse, lockFolder } from './folder-lock.ts'
import type { MigrateOptions } from './sqlite/migration-progress.ts'
import { openSqlite } from './sqlite/sqlite.ts'

/**
 * Opens the database of a data folder that a server may be running on; with `create`, one that is not
 * there yet is made. Only who holds the lock of the folder may migrate: beside a server the database
 * must have the version of this program.
 */
export async function openOffline(
  folder: string,
  { create, ...options }: { create: boolean } & MigrateOptions,
): Promise<Pick<Db, 'sql'>> {
  const file = databaseFile(folder)
  if (create) await makeDataFolder(folder)
  else if (!existsSync(file))
    throw new Error(`Cannot find a database in ${folder} (STENO_DATA_DIR)`)
  const lock = lockUnlessServed(folder, file)
  try {
    if (lock) await refuseMissingDatabase(folder)
    return { sql: await openSqlite(file, { ...options, version: lock ? 'migrate' : 'same' }) }
  } finally {
    lock?.release()
  }
}

/**
 * Looks at a data folder as a server does at its start, and throws what would stop that one; tells
 * whether there is a database, and whether a server has it open. Changes nothing.
 */
export async function examineDatabase(folder: string): Promise<'none' | 'free' | 'served'> {
  const file = databaseFile(folder)
  await refuseMissingDatabase(folder)
  if (!existsSync(file)) return 'none'
  const lock = lockUnlessServed(folder, file)
  try {
    await (await openSqlite(file, { version: 'known' })).destroy()
    return lock ? 'free' : 'served'
  } finally {
    lock?.release()
  }
}

/** The lock, or nothing when a server has it; one that has not made its database yet is not disturbed. */
function lockUnlessServed(folder: string, file: string) {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse && existsSync(file)) return undefined
    throw error
  }
}
