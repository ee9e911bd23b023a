import { join } from 'node:path'
import type { Log } from '../log.ts'
import { measureOldResults } from './account-bytes.ts'
import { databaseFile, makeDataFolder, refuseLostDatabase } from './data-folder.ts'
import type { Db } from './db.ts'
import { diskOf, type MeasureDisk } from './disk.ts'
import { lockFolder } from './folder-lock.ts'
import { deleteLostObjects, listEarlierObjects } from './lost-objects.ts'
import { type Objects, openObjects } from './objects.ts'
import { Space, type SpaceSettings } from './space.ts'
import { openSearches, openSqlite } from './sqlite.ts'

/** All that a server keeps: rows, recordings and results, below one folder that is its own. */
export type Storage = {
  db: Db
  objects: Objects
  /** Who may still store how much. */
  space: Space
  /** Resolves when the objects that nothing refers to are gone. */
  swept: Promise<void>
  close(): Promise<void>
}

/** What is opened, and the limits of what is kept. */
export type StorageOptions = SpaceSettings & {
  folder: string
  log: Log
  /** For tests. */
  disk?: MeasureDisk | undefined
}

/**
 * Opens the data folder, which it creates as needed and locks for this process, and begins to remove the
 * objects that an earlier process stored but was killed before it could refer to.
 */
export async function openStorage({
  folder,
  log,
  disk = diskOf(folder),
  ...settings
}: StorageOptions): Promise<Storage> {
  await makeDataFolder(folder)
  const lock = lockFolder(folder)
  try {
    await refuseLostDatabase(folder)
    const objects = await openObjects(join(folder, 'objects'))
    const file = databaseFile(folder)
    const db = { sql: await openSqlite(file), lists: openSearches(file), objects }
    const closing = new AbortController()
    try {
      // Behind the start: to look each object up takes minutes when there are millions on a slow disk.
      const swept = sweep({ db, log }, await listEarlierObjects(db), closing)
      async function close(): Promise<void> {
        closing.abort()
        await swept
        await db.lists.destroy()
        await db.sql.destroy()
        lock.release()
      }
      const space = new Space({ ...settings, db, disk })
      return { db, objects, space, swept, close }
    } catch (error) {
      await db.sql.destroy()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function sweep(
  { db, log }: { db: Db; log: Log },
  earlier: string[][],
  { signal }: AbortController,
): Promise<void> {
  try {
    const removed = await deleteLostObjects(db, earlier, { signal })
    if (removed > 0) log.info({ removed }, 'removed objects that nothing refers to')
    const measured = await measureOldResults(db, { signal })
    if (measured > 0) log.info({ measured }, 'noted the sizes of results')
  } catch (error) {
    log.error({ err: error }, 'cannot remove objects that nothing refers to')
  }
}
