/**
 * The thread that holds one connection to the database: it receives statements and returns their
 * outcomes. `sqlite-connection.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { SqliteOpenOptions, StatementRequest, StatementResult } from './sqlite-connection.ts'
import { openStatements } from './sqlite-statements.ts'

/** Milliseconds after which results are sent, even if statements of the same message are left. */
const SEND_AFTER_MS = 1

const statements = openStatements(workerData as SqliteOpenOptions)

parentPort!.on('message', (requests: StatementRequest[] | 'close') => {
  if (requests === 'close') {
    statements.close()
    parentPort!.close()
  } else {
    runAll(requests)
  }
})

function runAll(requests: readonly StatementRequest[]): void {
  let responses: StatementResult[] = []
  let since = performance.now()
  for (const request of requests) {
    responses.push(respond(request))
    if (performance.now() - since < SEND_AFTER_MS) continue
    parentPort!.postMessage(responses)
    responses = []
    since = performance.now()
  }
  if (responses.length > 0) parentPort!.postMessage(responses)
}

function respond({ id, ...request }: StatementRequest): StatementResult {
  try {
    if ('batch' in request) {
      const { texts, batch } = request
      const bound = batch.map(({ text, parameters }) => ({ sql: texts[text]!, parameters }))
      return { id, results: statements.runBatch(bound) }
    }
    const { sql, parameters, ...options } = request
    return { id, results: [statements.run(sql, parameters, options)] }
  } catch (error) {
    // Only plain fields cross the thread boundary; `errcode` distinguishes a full disk from a wrong
    // statement.
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    return { id, error: { message, code, errcode } }
  }
}
