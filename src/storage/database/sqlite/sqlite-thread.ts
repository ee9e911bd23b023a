/**
 * The thread that holds one connection to the database: a statement in, its outcome out. Started by
 * `sqlite-connection.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { SqliteOpenOptions, StatementRequest, StatementResult } from './sqlite-connection.ts'
import { openStatements } from './sqlite-statements.ts'

/**
 * Milliseconds after which answers are sent, whatever is left of the statements that came together.
 */
const SEND_AFTER_MS = 1

const statements = openStatements(workerData as SqliteOpenOptions)

parentPort!.on('message', (questions: StatementRequest[] | 'close') => {
  if (questions === 'close') {
    statements.close()
    parentPort!.close()
  } else {
    runAll(questions)
  }
})

function runAll(questions: readonly StatementRequest[]): void {
  let responses: StatementResult[] = []
  let since = performance.now()
  for (const question of questions) {
    responses.push(respond(question))
    if (performance.now() - since < SEND_AFTER_MS) continue
    parentPort!.postMessage(responses)
    responses = []
    since = performance.now()
  }
  if (responses.length > 0) parentPort!.postMessage(responses)
}

function respond({ id, sql, parameters, ...options }: StatementRequest): StatementResult {
  try {
    return { id, ...statements.run(sql, parameters, options) }
  } catch (error) {
    // Only plain fields cross the thread boundary; `errcode` distinguishes a full disk from a wrong
    // statement.
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    return { id, error: { message, code, errcode } }
  }
}
