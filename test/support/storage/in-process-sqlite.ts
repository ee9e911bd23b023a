import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ConnectSqlite } from '../../../src/storage/database/sqlite/sqlite.ts'
import { toOutcome } from '../../../src/storage/database/sqlite/sqlite-connection.ts'
import {
  openStatements,
  type SqliteStatements,
} from '../../../src/storage/database/sqlite/sqlite-statements.ts'
import { storageError } from '../../../src/storage/database/sqlite/storage-error.ts'

/** The result code of a statement that must wait for another connection's transaction. */
const SQLITE_BUSY = 5
const BUSY_TIMEOUT_MS = 5000
const RETRY_MS = 5

/**
 * Opens a connection without a thread, which takes a twentieth of a second of processor time to
 * start; the disk may lag behind.
 */
export const connectInProcess: ConnectSqlite = (options) => {
  const statements = openStatements(options, { isDurable: false })
  // The other connection may be of this process too: blocking it would keep it from committing.
  statements.run('pragma busy_timeout = 0', [])
  let last: Promise<unknown> = Promise.resolve()
  let isOpen = true

  return {
    run(sql, parameters) {
      const outcome = last.then(() => runInTurn(statements, sql, parameters))
      last = outcome.catch(() => {})
      return outcome
    },
    async close() {
      await last
      // Searches read and write through one connection.
      if (isOpen) statements.close()
      isOpen = false
    },
  }
}

async function runInTurn(
  statements: SqliteStatements,
  sql: string,
  parameters: readonly unknown[],
): ReturnType<ReturnType<ConnectSqlite>['run']> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS
  // The answer of a thread comes as a copy, in another turn of the event loop.
  await nextTurn()
  for (;;) {
    try {
      return toOutcome(structuredClone(statements.run(sql, parameters)))
    } catch (error) {
      const { errcode } = error as { errcode?: number }
      if (errcode !== SQLITE_BUSY || performance.now() > deadline) throw storageError(error)
    }
    await delay(RETRY_MS)
  }
}
