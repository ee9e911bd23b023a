/**
 * The thread that holds one connection to the database: a statement in, its outcome out. Started by
 * `sqlite-connection.ts`.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Answer, OpenOptions, Question } from './sqlite-connection.ts'

/**
 * How long a statement waits for a transaction of another process, such as the command line, to
 * end.
 */
const BUSY_TIMEOUT_MS = 5000
/** Our statements are a few dozen texts; those of lists vary with their filters. */
const MAX_PREPARED = 200

const { file, readOnly } = workerData as OpenOptions
const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly })
if (!readOnly) {
  // Commits survive a power loss; deleted data is overwritten with zeros.
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'secure_delete = on']) {
    connection.exec(`pragma ${pragma}`)
  }
}
const prepared = new Map<string, StatementSync>()

parentPort!.on('message', (question: Question | 'close') => {
  if (question === 'close') {
    connection.close()
    parentPort!.close()
  } else {
    parentPort!.postMessage(answer(question))
  }
})

function answer({ id, sql, parameters }: Question): Answer {
  try {
    return { id, ...run(sql, parameters as readonly SQLInputValue[]) }
  } catch (error) {
    // Only plain fields cross the thread boundary; `errcode` distinguishes a full disk from a wrong
    // statement.
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    return { id, error: { message, code, errcode } }
  }
}

function run(sql: string, parameters: readonly SQLInputValue[]) {
  // SQLite may have rolled back by itself (a full disk causes that); the first error is the one to
  // report.
  if (sql === 'rollback' && !connection.isTransaction) return { rows: [], changes: 0 }
  const statement = prepare(sql)
  if (statement.columns().length > 0) return { rows: statement.all(...parameters), changes: 0 }
  return { rows: [], changes: Number(statement.run(...parameters).changes) }
}

function prepare(sql: string): StatementSync {
  const known = prepared.get(sql)
  if (known) return known
  const statement = connection.prepare(sql)
  if (prepared.size >= MAX_PREPARED) prepared.delete(prepared.keys().next().value!)
  prepared.set(sql, statement)
  return statement
}
