import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder for models with those above it; rejects with `Error` that names the remedy. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeWithParents(path)
  } catch (cause) {
    throw refusedFolder(path, cause as Error)
  }
}

/** Returns the error for a folder in which nothing can be written. */
export function refusedFolder(path: string, cause: Error): Error {
  const remedy = 'make it writable, or set STENO_MODELS_DIR to a folder of yours'
  return new Error(`Cannot write to ${path}: ${cause.message}; ${remedy}`, { cause })
}

/**
 * Makes a folder with those above it. Node's own recursive `mkdir` never ends where the system
 * answers that a folder does not exist although its parent does, as in `/proc`.
 */
export async function makeWithParents(path: string): Promise<void> {
  const code = await tryMake(path)
  if (code !== 'ENOENT') return
  await makeWithParents(dirname(path))
  if ((await tryMake(path)) === 'ENOENT') await mkdir(path)
}

/**
 * Returns why there was nothing to make, or nothing could be made in; rejects for other reasons.
 */
async function tryMake(path: string): Promise<'EEXIST' | 'ENOENT' | undefined> {
  try {
    await mkdir(path)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || (code === 'ENOENT' && dirname(path) !== path)) return code
    throw error
  }
}
