import { mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { listDiskObjects } from './objects/disk-objects.ts'

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
 * Creates the data folder, accessible only to its owner, and the folders above it. It creates them
 * one by one, because Node's own recursive mode never ends below /proc, where no folder can be
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

/**
 * Throws if a data folder has objects or live sessions but no database: a new one would know none
 * of them, so they would be deleted.
 */
export async function refuseMissingDatabase(folder: string): Promise<void> {
  const file = databaseFile(folder)
  const found = await stat(file).catch(() => undefined)
  if (found && found.size > 0) return
  for await (const _ of listDiskObjects(join(folder, 'objects'))) throw lost(file, 'objects')
  const sessions = await readdir(liveFolder(folder)).catch(() => [])
  if (sessions.length > 0) throw lost(file, 'live')
}

function lost(file: string, folder: 'objects' | 'live'): Error {
  const rest = folder === 'live' ? 'live sessions' : folder
  const remedy = `put a backup in its place, or move the ${folder} folder away to start anew`
  return new Error(`Cannot open the database ${file}: it is gone, but not its ${rest}; ${remedy}`)
}
