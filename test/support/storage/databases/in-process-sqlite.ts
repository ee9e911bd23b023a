import { existsSync, rmSync } from 'node:fs'
import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { storageError } from '../../../../src/storage/data-folder/storage-error.ts'
import { type ConnectSqlite, openSqlite } from '../../../../src/storage/database/sqlite/sqlite.ts'
import {
  type SqliteConnection,
  type SqliteOpenOptions,
  toOutcome,
} from '../../../../src/storage/database/sqlite/sqlite-connection.ts'
import {
  openStatements,
  type SqliteStatements,
} from '../../../../src/storage/database/sqlite/sqlite-statements.ts'

/** The result code of a statement that must wait for another connection's transaction. */
const SQLITE_BUSY = 5
const BUSY_TIMEOUT_MS = 5000
const RETRY_MS = 5

/**
 * Opens a connection without a thread, which takes a twentieth of a second of processor time to
 * start; the disk may lag behind. A new database is a copy of one that was migrated before, which
 * takes a third of the time.
 */
export const connectInProcess: ConnectSqlite = (options) => {
  if (options.readOnly || existsSync(options.file)) return connect(options)
  return connect(options, copyMigrated(options.file))
}

/** Opens a connection, whose first statement runs once the database is `ready`. */
function connect(options: SqliteOpenOptions, ready?: Promise<unknown>): SqliteConnection {
  let last: Promise<unknown> = ready ?? Promise.resolve()
  let opened = ready ? undefined : openQuickly(options)
  let isOpen = true

  function runInTurn<T>(work: (statements: SqliteStatements) => T): Promise<T> {
    const outcome = last.then(() => {
      opened ??= openQuickly(options)
      return runWhenFree(opened, work)
    })
    last = outcome.catch(() => {})
    return outcome
  }

  return {
    run: (...statement) => runInTurn((statements) => toOutcome(statements.run(...statement))),
    runBatch: (batch) => runInTurn((statements) => statements.runBatch(batch).map(toOutcome)),
    async close() {
      await last
      // Searches read and write through one connection.
      if (isOpen) opened?.close()
      isOpen = false
    },
  }
}

function openQuickly(options: SqliteOpenOptions): SqliteStatements {
  const statements = openStatements(options, { isDurable: false })
  // The other connection may be of this process too: blocking it would keep it from committing.
  statements.run('pragma busy_timeout = 0', [])
  return statements
}

/** The file of an empty database with today's tables, for all tests of this process. */
let migrated: Promise<string> | undefined

async function copyMigrated(file: string): Promise<void> {
  migrated ??= makeMigrated()
  await copyFile(await migrated, file)
}

async function makeMigrated(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'migrated.db')
  const database = await openSqlite(file, { connect })
  await database.destroy()
  return file
}

async function runWhenFree<T>(
  statements: SqliteStatements,
  work: (statements: SqliteStatements) => T,
): Promise<T> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS
  // The response of a thread comes as a copy, in another turn of the event loop.
  await nextTurn()
  for (;;) {
    try {
      return structuredClone(work(statements))
    } catch (error) {
      const { errcode } = error as { errcode?: number }
      if (errcode !== SQLITE_BUSY || performance.now() > deadline) throw storageError(error)
    }
    await delay(RETRY_MS)
  }
}
