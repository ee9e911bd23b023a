import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

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
