import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type {
  BoundStatement,
  SqliteOpenOptions,
  StatementOptions,
  StatementRows,
} from './sqlite-connection.ts'

const NOTHING: StatementRows = { columns: [], rows: [], changes: 0 }

/**
 * How long a statement waits for a transaction of another process, such as the command line, to
 * end.
 */
const BUSY_TIMEOUT_MS = 5000
/**
 * Pages of the write-ahead log after which a commit copies them to the file, which takes two syncs.
 * New jobs fill the default of 1000 pages each second; with more pages, one that changes several
 * times is copied only once.
 */
const CHECKPOINT_PAGES = 4000
/**
 * KiB of pages that the writer caches. The default of 2000 is less than the indexes that it
 * changes.
 */
const WRITER_CACHE_KIB = 16_000
/**
 * Maximum prepared statements that are kept: there are a few dozen texts, and those of lists vary
 * with their filters.
 */
const MAX_PREPARED_STATEMENTS = 200

/** A connection that blocks its caller. */
export type SqliteStatements = {
  /** Runs one statement. Throws the error of `node:sqlite`, whose `errcode` is the result code. */
  run(sql: string, parameters: readonly unknown[], options?: StatementOptions): StatementRows
  /** Runs statements in a transaction of their own, as `run` does, or none of them. */
  runBatch(batch: readonly BoundStatement[]): StatementRows[]
  close(): void
}

type PreparedStatement = { statement: StatementSync; columns: string[]; changesTables: boolean }

/** Opens a database; `isDurable` false leaves it to the system when commits reach the disk. */
export function openStatements(
  { file, readOnly }: SqliteOpenOptions,
  { isDurable = true } = {},
): SqliteStatements {
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly })
  if (!readOnly) {
    // Commits survive a power loss; deleted data is overwritten with zeros.
    const pragmas = [
      ...[
        'journal_mode = wal',
        `synchronous = ${isDurable ? 'full' : 'off'}`,
        'secure_delete = on',
      ],
      ...[`wal_autocheckpoint = ${CHECKPOINT_PAGES}`, `cache_size = -${WRITER_CACHE_KIB}`],
    ]
    for (const pragma of pragmas) connection.exec(`pragma ${pragma}`)
  }
  const prepared = new Map<string, PreparedStatement>()

  function prepare(sql: string): PreparedStatement {
    const cachedStatement = prepared.get(sql)
    if (cachedStatement) return cachedStatement
    const statement = connection.prepare(sql)
    // Reading rows as arrays takes half the time, and so does reading a row whose columns are
    // already known.
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const entry = { statement, columns, changesTables: /^\s*(create|alter|drop)\b/i.test(sql) }
    if (prepared.size >= MAX_PREPARED_STATEMENTS) prepared.delete(prepared.keys().next().value!)
    prepared.set(sql, entry)
    return entry
  }

  const run: SqliteStatements['run'] = (sql, parameters, { inTransaction = false } = {}) => {
    // SQLite may have rolled back by itself (a full disk causes that): what was sent meanwhile must
    // not be written, and the first error is the one to report.
    if (inTransaction && !connection.isTransaction) throw new Error('the transaction has ended')
    if (sql === 'rollback' && !connection.isTransaction) return NOTHING
    const { statement, columns, changesTables } = prepare(sql)
    const values = parameters as readonly SQLInputValue[]
    if (columns.length > 0) {
      return { columns, rows: statement.all(...values) as unknown as unknown[][], changes: 0 }
    }
    const { changes } = statement.run(...values)
    // The columns of `*` may have changed.
    if (changesTables) prepared.clear()
    return { ...NOTHING, changes: Number(changes) }
  }

  return {
    run,
    runBatch(batch) {
      run('begin immediate', [])
      try {
        const results = batch.map(({ sql, parameters }) => run(sql, parameters))
        run('commit', [])
        return results
      } catch (error) {
        run('rollback', [])
        throw error
      }
    },
    close: () => connection.close(),
  }
}
