import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { listObjects } from './objects.ts'

/** Where the rows of a data folder are. */
export function databaseFile(folder: string): string {
  return join(folder, 'steno.sqlite')
}

/**
 * Makes the data folder, for nobody but its owner, and the folders above it. One by one, because Node's
 * own recursive way never ends below /proc, where no folder can be made.
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
 * Throws when a data folder has objects but no database: a new one would know none of them, and they
 * would be deleted for that.
 */
export async function refuseLostDatabase(folder: string): Promise<void> {
  const file = databaseFile(folder)
  const found = await stat(file).catch(() => undefined)
  if (found && found.size > 0) return
  for await (const _ of listObjects(join(folder, 'objects'))) {
    const remedy = 'put a backup in its place, or move the objects folder away to start anew'
    throw new Error(`Cannot open the database ${file}: it is gone, but not its objects; ${remedy}`)
  }
}
