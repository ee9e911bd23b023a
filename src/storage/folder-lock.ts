import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes a data folder for this process, or throws when a server holds it already. The lock is the
 * operating system's (an exclusive transaction on a file of its own), so it ends with the process,
 * however that ends, and nothing stale is ever left behind.
 */
export function lockFolder(folder: string): { release(): void } {
  const lock = new DatabaseSync(join(folder, 'server.lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (cause) {
    lock.close()
    throw new Error(`Cannot open the data folder: another server is using ${folder}`, { cause })
  }
  return { release: () => lock.close() }
}
