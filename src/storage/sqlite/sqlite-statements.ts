import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { OpenOptions, Outcome } from './sqlite-connection.ts'

/**
 * How long a statement waits for a transaction of another process, such as the command line, to
 * end.
 */
const BUSY_TIMEOUT_MS = 5000
/** Our statements are a few dozen texts; those of lists vary with their filters. */
const MAX_PREPARED = 200

/** A connection that blocks its caller. */
export type SqliteStatements = {
  /** Runs one statement. Throws the error of `node:sqlite`, whose `errcode` is the result code. */
  run(sql: string, parameters: readonly unknown[]): Outcome
  close(): void
}

/** Opens a database; `isDurable` false leaves it to the system when commits reach the disk. */
export function openStatements(
  { file, readOnly }: OpenOptions,
  { isDurable = true } = {},
): SqliteStatements {
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly })
  if (!readOnly) {
    // Commits survive a power loss; deleted data is overwritten with zeros.
    const synchronous = `synchronous = ${isDurable ? 'full' : 'off'}`
    for (const pragma of ['journal_mode = wal', synchronous, 'secure_delete = on']) {
      connection.exec(`pragma ${pragma}`)
    }
  }
  const prepared = new Map<string, StatementSync>()

  function prepare(sql: string): StatementSync {
    const known = prepared.get(sql)
    if (known) return known
    const statement = connection.prepare(sql)
    if (prepared.size >= MAX_PREPARED) prepared.delete(prepared.keys().next().value!)
    prepared.set(sql, statement)
    return statement
  }

  return {
    run(sql, parameters) {
      // SQLite may have rolled back by itself (a full disk causes that); the first error is the one
      // to report.
      if (sql === 'rollback' && !connection.isTransaction) return { rows: [], changes: 0 }
      const statement = prepare(sql)
      const values = parameters as readonly SQLInputValue[]
      if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 }
      return { rows: [], changes: Number(statement.run(...values).changes) }
    },
    close: () => connection.close(),
  }
}
