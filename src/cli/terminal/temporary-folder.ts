import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, messageOf } from '../../errors.ts'

/** Creates a folder for temporary files, which the caller removes. */
export async function makeTemporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'steno-')).catch((cause) => {
    const remedy = 'set TMPDIR to a folder that can be written'
    throw new Error(`Cannot create temporary files: ${messageOf(cause)}; ${remedy}`, { cause })
  })
}

/** How the messages of a server start whose disk is full, or nearly. */
const FULL = [new AppError('storage_full').message, new AppError('storage_low').message]

/**
 * Returns the error of work whose files are all temporary; if the disk is full, one that names
 * their folder and the remedy.
 */
export function explainTemporaryFiles(error: unknown): unknown {
  const message = messageOf(error)
  if (!FULL.some((start) => message.startsWith(start))) return error
  const remedy = `free some space in ${tmpdir()}, or set TMPDIR to a folder on another disk`
  return new Error(`${message}; ${remedy}`, { cause: error })
}
