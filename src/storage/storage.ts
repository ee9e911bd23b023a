import { join } from 'node:path'
import type { Log } from '../log.ts'
import { databaseFile, makeDataFolder, refuseMissingDatabase } from './data-folder.ts'
import type { Db } from './db.ts'
import { lockFolder } from './folder-lock.ts'
import { type DeletionClock, openDeletionClock } from './jobs/deletion-clock.ts'
import { closeFilesBelow, closeToOthers } from './objects/file-modes.ts'
import { type Objects, openObjects } from './objects/objects.ts'
import {
  listEarlierObjects,
  removeOrphanObjects,
  takeBackObjects,
} from './objects/orphan-objects.ts'
import { type Orphans, openOrphans } from './objects/orphans.ts'
import { measureOldResults } from './space/account-bytes.ts'
import { diskOf, type MeasureDisk } from './space/disk.ts'
import { Space, type SpaceSettings } from './space/space.ts'
import { logProgress } from './sqlite/migration-progress.ts'
import { openSearches, openSqlite } from './sqlite/sqlite.ts'

/** All that a server keeps: rows, recordings and results, below one folder that is its own. */
export type Storage = {
  db: Db
  objects: Objects
  /** Who may still store how much. */
  space: Space
  /** What nothing refers to; undefined where it is not kept. */
  orphans: Orphans | undefined
  /** Asked before anything is deleted for its age. */
  deletionClock: DeletionClock
  /** Resolves when the objects that nothing refers to are gone from the others. */
  swept: Promise<void>
  close(): Promise<void>
}

/** How a data folder is opened, and the limits of what is kept in it. */
export type StorageOptions = SpaceSettings & {
  folder: string
  log: Log
  /** Ends an opening that migrates the database, which then stays as it was. */
  signal?: AbortSignal | undefined
  /** False deletes objects that nothing refers to, instead of keeping them as orphans. */
  keepOrphans?: boolean
  /** Believes a clock that is far ahead of the last run. */
  trustClock?: boolean
  /** For tests. */
  disk?: MeasureDisk | undefined
}

/**
 * Opens the data folder, which it creates as needed, closes to other users and locks for this process, and
 * begins to move the objects away that an earlier process stored but that nothing refers to.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { folder, log, signal } = options
  await makeDataFolder(folder)
  const lock = lockFolder(folder)
  try {
    await refuseMissingDatabase(folder)
    const open = await closeToOthers(folder)
    if (open.length > 0) log.warn({ open }, 'closed what other users could open')
    const isTrusted = options.trustClock ?? false
    const deletionClock = await openDeletionClock({ folder, log, isTrusted })
    const objects = await openObjects(join(folder, 'objects'))
    const earlierOrphans = openOrphans(join(folder, 'orphans'), objects)
    const orphans = options.keepOrphans === false ? undefined : earlierOrphans
    const file = databaseFile(folder)
    const sql = await openSqlite(file, { signal, progress: logProgress(log) })
    const db = { sql, readonly: openSearches(file), objects }
    const closing = new AbortController()
    try {
      const taken = await takeBackObjects(db, earlierOrphans)
      if (taken > 0) log.info({ taken }, 'took objects back that are referred to again')
      // Behind the start: to look each object up takes minutes when there are millions on a slow disk.
      const earlier = await listEarlierObjects(db, { orphans })
      const swept = Promise.all([
        sweep({ db, log, orphans }, earlier, closing),
        closeFilesBelow(open, closing).catch((err) =>
          log.warn({ err }, 'files stay open to others'),
        ),
      ])
      async function close(): Promise<void> {
        closing.abort()
        await swept
        await deletionClock.close()
        await db.readonly.destroy()
        await db.sql.destroy()
        lock.release()
      }
      const space = new Space({ ...options, db, disk: options.disk ?? diskOf(folder) })
      const removed = swept.then(() => {})
      return { db, objects, space, orphans, deletionClock, swept: removed, close }
    } catch (error) {
      await db.sql.destroy()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

type Sweep = { db: Db; log: Log; orphans: Orphans | undefined }

async function sweep(
  { db, log, orphans }: Sweep,
  earlier: string[][],
  { signal }: AbortController,
): Promise<void> {
  try {
    const removed = await removeOrphanObjects(db, earlier, { orphans, signal })
    const msg = orphans
      ? 'moved objects that nothing refers to'
      : 'removed objects that nothing refers to'
    if (removed > 0) log.warn({ removed, ...(orphans && { to: 'orphans' }) }, msg)
    const measured = await measureOldResults(db, { signal })
    if (measured > 0) log.info({ measured }, 'noted the sizes of results')
  } catch (error) {
    log.error({ err: error }, 'cannot remove objects that nothing refers to')
  }
}
