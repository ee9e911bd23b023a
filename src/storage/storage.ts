import { join } from 'node:path'
import type { Log } from '../log.ts'
import { databaseFile, makeDataFolder, refuseMissingDatabase } from './data-folder.ts'
import type { Db } from './db.ts'
import { type DeletionClock, openDeletionClock } from './jobs/deletion-clock.ts'
import { openDiskObjects } from './objects/disk-objects.ts'
import { closeFilesBelow, closeToOthers } from './objects/file-modes.ts'
import type { Objects } from './objects/objects.ts'
import {
  listEarlierObjects,
  removeOrphanObjects,
  takeBackObjects,
} from './objects/orphan-objects.ts'
import { type Orphans, openOrphans } from './objects/orphans.ts'
import { measureOldResults } from './space/account-bytes.ts'
import { diskOf, type MeasureDisk } from './space/disk.ts'
import { Space, type SpaceSettings } from './space/space.ts'
import { lockFolder } from './sqlite/folder-lock.ts'
import { logProgress } from './sqlite/migration-progress.ts'
import { openSearches, openSqlite } from './sqlite/sqlite.ts'
import { sqliteDialect } from './sqlite/sqlite-dialect.ts'

/** Everything that a server stores: rows, recordings and results, below one folder of its own. */
export type Storage = {
  db: Db
  objects: Objects
  /** Which account may still store how much. */
  space: Space
  /** Objects that nothing refers to; undefined if they are not kept. */
  orphans: Orphans | undefined
  /** Checked before anything is deleted because of its age. */
  deletionClock: DeletionClock
  /** Resolves when objects that nothing refers to have been moved away from the others. */
  swept: Promise<void>
  close(): Promise<void>
}

/** How a data folder is opened, and its limits. */
export type StorageOptions = SpaceSettings & {
  folder: string
  log: Log
  /** Aborts an opening that migrates the database, which then stays as it was. */
  signal?: AbortSignal | undefined
  /** False deletes objects that nothing refers to, instead of keeping them as orphans. */
  keepOrphans?: boolean
  /** Trusts a clock that is far ahead of the last run. */
  trustClock?: boolean
  /** For tests: replaces the objects on disk. */
  objects?: Objects | undefined
  /** For tests. */
  disk?: MeasureDisk | undefined
}

/**
 * Opens the data folder: creates it if needed, closes it to other users and locks it for this
 * process. Starts moving away the objects that an earlier process stored but that nothing refers
 * to.
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
    const objects = options.objects ?? (await openDiskObjects(join(folder, 'objects')))
    const earlierOrphans = openOrphans(join(folder, 'orphans'), objects)
    const orphans = options.keepOrphans === false ? undefined : earlierOrphans
    const file = databaseFile(folder)
    const sql = await openSqlite(file, { signal, progress: logProgress(log) })
    const db = { sql, readonly: openSearches(file), objects, dialect: sqliteDialect }
    const closing = new AbortController()
    const { signal: closed } = closing
    try {
      const taken = await takeBackObjects(db, earlierOrphans)
      if (taken > 0) log.info({ taken }, 'took objects back that are referred to again')
      // In the background after the start: looking up every object takes minutes if there are
      // millions on a slow disk.
      const earlier = await listEarlierObjects(db, { orphans, signal: closed })
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
