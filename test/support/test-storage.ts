import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLog } from '../../src/log.ts'
import type { ConnectSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { openStatements } from '../../src/storage/sqlite/sqlite-statements.ts'
import { storageError } from '../../src/storage/sqlite/storage-error.ts'
import { openStorage, type Storage } from '../../src/storage/storage.ts'

/** Creates an empty folder that is removed with the test. */
export async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  // The hooks run in order, so a store in the folder may still be writing.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/**
 * Opens a connection without a thread, which takes a twentieth of a second to start; the disk may
 * lag behind.
 */
const connect: ConnectSqlite = (options) => {
  const statements = openStatements(options, { isDurable: false })
  let isOpen = true
  return {
    async run(sql, parameters) {
      // The answer of a thread comes as a copy, in another turn of the event loop.
      await nextTurn()
      try {
        return structuredClone(statements.run(sql, parameters))
      } catch (error) {
        throw storageError(error)
      }
    },
    async close() {
      // Searches read and write through one connection.
      if (isOpen) statements.close()
      isOpen = false
    },
  }
}

/**
 * Opens a store in a folder of its own; both are removed with the test. `inThreads` has the
 * database in threads, as a server has it.
 */
export async function openTestStorage(
  t: TestContext,
  { inThreads = false } = {},
): Promise<Storage & { folder: string }> {
  const folder = await makeFolder(t)
  const storage = await openStorage({
    folder,
    log: createLog('silent'),
    ...(!inThreads && { connect }),
  })
  t.after(() => storage.close())
  return { ...storage, folder }
}
