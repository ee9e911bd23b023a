import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { restoreRemedy } from '../database/sqlite/sqlite-error.ts'
import { listDiskObjects } from '../objects/disk/disk-objects.ts'
import type { ObjectStore } from '../objects/object-store.ts'

/** Returns the path of the database in a data folder. */
export function databaseFile(folder: string): string {
  return join(folder, 'steno.sqlite')
}

/**
 * Returns the parent folder of all live sessions that have not ended; each has a folder named by
 * its id.
 */
export function liveFolder(folder: string): string {
  return join(folder, 'live')
}

/**
 * Returns the parent folder of the local copies of sessions in a shared database. Copies of dead
 * processes may be deleted.
 */
export function liveCopyFolder(folder: string, nodeId: string): string {
  return join(folder, 'live-copies', nodeId)
}

/** Removes the copies of sessions that dead processes left; `alive` are the ids of the others. */
export async function removeDeadCopies(folder: string, alive: readonly string[]): Promise<void> {
  const names = await readdir(liveCopyFolder(folder, '.')).catch(() => [])
  for (const name of names) {
    if (alive.includes(name)) continue
    await rm(liveCopyFolder(folder, name), { recursive: true, force: true })
  }
}

/**
 * Creates the data folder, accessible only to its owner, and its parent folders. It creates them
 * one by one, because the recursive mode of Node never returns below /proc, where no folder can be
 * created.
 */
export async function makeDataFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDataFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}

/** The name of a file that marks an unfinished restore, which may be started again. */
export const RESTORING_MARK = 'restoring'

/**
 * Throws if a data folder has objects or live sessions but no database, or only a part of a
 * restored one: a new database would not refer to them, so they would be deleted.
 */
export async function refuseMissingDatabase(folder: string): Promise<void> {
  if (existsSync(join(folder, RESTORING_MARK))) {
    throw new Error(
      `Cannot open the data folder ${folder}: its restore did not finish; run 'steno restore' again`,
    )
  }
  const file = databaseFile(folder)
  const databaseStat = await stat(file).catch(() => undefined)
  if (databaseStat && databaseStat.size > 0) return
  const storedData = await findStoredData(folder)
  if (storedData) throw missingDatabaseError(file, storedData)
}

/**
 * Throws if a data folder has its own database but is used with a shared one, which does not refer
 * to its recordings: they would be moved away.
 */
export async function refuseOtherDatabase(folder: string): Promise<void> {
  const file = databaseFile(folder)
  const databaseStat = await stat(file).catch(() => undefined)
  if (!databaseStat) return
  throw new Error(
    `Cannot use STENO_DATABASE_URL with this data folder: ${file} is its database; move it with 'steno store migrate' and put the file away, or choose another STENO_DATA_DIR`,
  )
}

/**
 * Throws if a data folder has objects or live sessions, which an empty database does not refer to.
 */
export async function refuseEmptyDatabase(folder: string): Promise<void> {
  const storedData = await findStoredData(folder)
  if (!storedData) return
  throw new Error(
    `Cannot use the database of STENO_DATABASE_URL: it is empty, but the data folder ${folder} has ${storedData}; restore a backup of the database, or choose another STENO_DATA_DIR`,
  )
}

/** Throws if an object store has objects, which an empty database does not refer to. */
export async function refuseUnknownObjects(objects: ObjectStore): Promise<void> {
  for await (const _ of objects.list()) {
    throw new Error(
      'Cannot use the object store with an empty database: it has objects that would be moved away; restore a backup of the database, or choose another prefix (STENO_OBJECT_STORE)',
    )
  }
}

/** Throws if a data folder that is used with an object store has objects of its own. */
export async function refuseLocalObjects(folder: string): Promise<void> {
  if (!(await hasLocalObjects(folder))) return
  throw new Error(
    `Cannot use STENO_OBJECT_STORE with this data folder: ${folder} has objects; move it with 'steno store migrate', or choose another STENO_DATA_DIR`,
  )
}

/** Returns whether a data folder has objects of its own. */
export async function hasLocalObjects(folder: string): Promise<boolean> {
  for await (const _ of listDiskObjects(join(folder, 'objects'))) return true
  return false
}

async function findStoredData(folder: string): Promise<'objects' | 'live' | undefined> {
  if (await hasLocalObjects(folder)) return 'objects'
  const sessions = await readdir(liveFolder(folder)).catch(() => [])
  return sessions.length > 0 ? 'live' : undefined
}

function missingDatabaseError(file: string, folder: 'objects' | 'live'): Error {
  const folderContent = folder === 'live' ? 'live sessions' : folder
  const remedy = `${restoreRemedy(dirname(file))}; or move only its ${folder} folder away to start anew`
  return new Error(
    `Cannot open the database ${file}: it is gone, but not its ${folderContent}; ${remedy}`,
  )
}
