/** The thread in which long bodies are parsed and validated. Started by `body-thread.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { AppError, type PlainError, toPlain } from '../../../errors.ts'
import { type BodySettings, type BodyTask, createBodyParser } from './parse-body.ts'

/** A message from the thread: the outcome of a body, or the reason why there is none. */
export type FromBodyThread =
  | { kind: 'read'; outcome: unknown }
  | { kind: 'refused'; error: PlainError }

const parseBody = createBodyParser(workerData as BodySettings)

parentPort!.on('message', (task: BodyTask) => parentPort!.postMessage(respond(task)))

function respond(task: BodyTask): FromBodyThread {
  try {
    return { kind: 'read', outcome: parseBody(task) }
  } catch (error) {
    // The message of an unexpected error may quote the body.
    const appError = error instanceof AppError ? error : new AppError('internal')
    return { kind: 'refused', error: toPlain(appError) }
  }
}
