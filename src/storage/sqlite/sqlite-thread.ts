/**
 * The thread that holds one connection to the database: a statement in, its outcome out. Started by
 * `sqlite-connection.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { Answer, OpenOptions, Question } from './sqlite-connection.ts'
import { openStatements } from './sqlite-statements.ts'

const statements = openStatements(workerData as OpenOptions)

parentPort!.on('message', (question: Question | 'close') => {
  if (question === 'close') {
    statements.close()
    parentPort!.close()
  } else {
    parentPort!.postMessage(answer(question))
  }
})

function answer({ id, sql, parameters }: Question): Answer {
  try {
    return { id, ...statements.run(sql, parameters) }
  } catch (error) {
    // Only plain fields cross the thread boundary; `errcode` distinguishes a full disk from a wrong
    // statement.
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    return { id, error: { message, code, errcode } }
  }
}
