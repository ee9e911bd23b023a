import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, refusedFolder } from '../files/make-folder.ts'

/** SQLite result code (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
const POLL_MS = 200

/**
 * Runs `work` while no other process changes the model `id` in the store, and calls `onWait` when
 * one does. The lock is the operating system's (an exclusive transaction on a file of its own), so
 * it ends with the process, however that ends.
 */
export async function withModelLock<T>(
  store: string,
  { id, signal, onWait }: { id: string; signal: AbortSignal; onWait?: (() => void) | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const folder = join(store, '.locks')
  await makeFolder(folder)
  let lock = tryLock(join(folder, id))
  if (!lock) onWait?.()
  while (!lock) {
    await sleep(POLL_MS, undefined, { signal })
    lock = tryLock(join(folder, id))
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

function tryLock(file: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file, { timeout: 0 })
    // Without a journal file, the lock needs no space: a model can be removed from a full disk.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock?.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw refusedFolder(dirname(file), error as Error)
  }
}
