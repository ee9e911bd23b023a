import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../log.ts'
import { makeDataFolder } from './data-folder.ts'
import type { Db } from './db.ts'
import { findKnownObjects } from './files.ts'
import { lockFolder } from './folder-lock.ts'
import { type Objects, openObjects } from './objects.ts'
import { openSqlite } from './sqlite.ts'

/** All that a server keeps: rows, recordings and results, below one folder that is its own. */
export type Storage = { db: Db; objects: Objects; close(): Promise<void> }

/**
 * Opens the data folder, which it creates as needed and locks for this process, and removes the
 * objects that an earlier process stored but was killed before it could refer to.
 */
export async function openStorage({ folder, log }: { folder: string; log: Log }): Promise<Storage> {
  await makeDataFolder(folder)
  const lock = lockFolder(folder)
  try {
    const objects = await openObjects(join(folder, 'objects'))
    const file = join(folder, 'steno.sqlite')
    const isNew = !existsSync(file)
    const db = { sql: await openSqlite(file), objects }
    try {
      // A database that was lost knows no object; what is there may be all that is left.
      const removed = isNew ? 0 : await removeUnknownObjects(db)
      if (removed > 0) log.info({ removed }, 'removed objects that nothing refers to')
    } catch (error) {
      await db.sql.destroy()
      throw error
    }
    async function close(): Promise<void> {
      await db.sql.destroy()
      lock.release()
    }
    return { db, objects, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function removeUnknownObjects(db: Db): Promise<number> {
  let removed = 0
  for await (const ids of db.objects.list()) {
    const known = await findKnownObjects(db, ids)
    for (const id of ids) {
      if (known.has(id)) continue
      await db.objects.delete(id)
      removed++
    }
  }
  return removed
}
