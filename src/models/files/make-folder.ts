import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder for models and its parents; rejects with `Error` that names the remedy. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeWithParents(path)
  } catch (cause) {
    throw refusedFolder(path, cause as Error)
  }
}

/** Returns the error for a folder that is not writable. */
export function refusedFolder(path: string, cause: Error): Error {
  const remedy = 'make it writable, or set STENO_MODELS_DIR to a folder of yours'
  return new Error(`Cannot write to ${path}: ${cause.message}; ${remedy}`, { cause })
}

/**
 * Makes a folder and its parents. Node's recursive `mkdir` never returns where the system reports
 * ENOENT although the parent exists, as in `/proc`.
 */
export async function makeWithParents(path: string): Promise<void> {
  const code = await tryMake(path)
  if (code !== 'ENOENT') return
  await makeWithParents(dirname(path))
  if ((await tryMake(path)) === 'ENOENT') await mkdir(path)
}

/**
 * Makes a folder. Returns `EEXIST` if it exists and `ENOENT` if its parent is missing; rejects for
 * other errors.
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
