import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDiskFull } from '../../errors.ts'

/** Makes a folder for models and its parents; rejects with `Error` that names the remedy. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeWithParents(path)
  } catch (cause) {
    throw refusedFolder(path, cause as Error)
  }
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your quota is used up',
  EFBIG: 'a file may not become that large (ulimit -f)',
}

/** Returns the error for a folder that is not writable. */
export function refusedFolder(path: string, cause: NodeJS.ErrnoException): Error {
  const { code = '', message } = cause
  const remedy = isDiskFull(cause)
    ? 'free some space, or set STENO_MODELS_DIR to another disk'
    : 'make it writable, or set STENO_MODELS_DIR to a folder of yours'
  return new Error(`Cannot write to ${path}: ${WRITE_REASONS[code] ?? message}; ${remedy}`, {
    cause,
  })
}

/**
 * Returns whether an error is one of writing: the disk is full, or the file system or the
 * permissions do not allow it. A connection may be denied, too.
 */
export function isWriteRefusal(error: unknown): error is NodeJS.ErrnoException {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  return isDiskFull(error) || (Object.hasOwn(WRITE_REASONS, code) && syscall !== 'connect')
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
