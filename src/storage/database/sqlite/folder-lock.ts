import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** SQLite result codes (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26

/** A server has locked the folder. */
export class FolderInUseError extends Error {
  constructor(folder: string, options: ErrorOptions) {
    super(`Cannot open the data folder: another server is using ${folder}`, options)
  }
}

/**
 * Locks a data folder for this process; throws if a server already holds it. The lock is the
 * operating system's (an exclusive transaction on a separate file), so it ends with the process,
 * however that ends, and never goes stale.
 */
export function lockFolder(folder: string): { release(): void } {
  const file = join(folder, 'server.lock')
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file, { timeout: 0 })
    lock.exec('begin exclusive')
    const heldLock = lock
    return { release: () => heldLock.close() }
  } catch (cause) {
    lock?.close()
    const { errcode, message } = cause as Error & { errcode?: number }
    if (errcode === SQLITE_BUSY) throw new FolderInUseError(folder, { cause })
    const remedy = errcode === SQLITE_NOTADB ? ' (it has no data: delete it)' : ''
    throw new Error(`Cannot open the data folder: ${file}: ${message}${remedy}`, { cause })
  }
}
