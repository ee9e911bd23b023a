import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataFolder } from './data-folder.ts'
import type { Db } from './db.ts'
import { lockFolder } from './folder-lock.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the database of a data folder that a server may be running on; with `create`, one that is not
 * there yet is made. Only who holds the lock of the folder may migrate: beside a server the database
 * must have the version of this program.
 */
export async function openBesideServer(
  folder: string,
  { create }: { create: boolean },
): Promise<Pick<Db, 'sql'>> {
  const file = join(folder, 'steno.sqlite')
  if (create) await makeDataFolder(folder)
  else if (!existsSync(file))
    throw new Error(`Cannot find a database in ${folder} (STENO_DATA_DIR)`)
  const lock = lockUnlessServed(folder, file)
  try {
    return { sql: await openSqlite(file, { migrate: lock !== undefined }) }
  } finally {
    lock?.release()
  }
}

/** The lock, or nothing when a server has it; one that has not made its database yet is not disturbed. */
function lockUnlessServed(folder: string, file: string) {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (existsSync(file)) return undefined
    throw error
  }
}
