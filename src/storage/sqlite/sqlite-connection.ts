import { Worker } from 'node:worker_threads'
import { storageError } from './storage-error.ts'

/** Which database a thread opens. */
export type OpenOptions = { file: string; readOnly: boolean }

/** A statement sent to the thread. */
export type Question = { id: number; sql: string; parameters: readonly unknown[] }

/** The outcome of a statement. */
export type Outcome = { rows: unknown[]; changes: number }

/** The outcome of the statement `id`, or why it failed. */
export type Answer = { id: number } & (Outcome | { error: ErrorFields })

type ErrorFields = { message: string; code?: string | undefined; errcode?: number | undefined }

/** A connection to a SQLite database, held by a thread of its own. */
export type SqliteConnection = {
  /** Runs one statement. Statements of one connection run in the order of the calls. */
  run(sql: string, parameters: readonly unknown[]): Promise<Outcome>
  close(): Promise<void>
}

type Waiting = PromiseWithResolvers<Outcome>

/**
 * Opens a connection in a thread. SQLite blocks its caller for the length of a sync or a long
 * query, and that must not be the event loop, which serves everyone. The thread does not keep the
 * process alive; a pending statement does. It is no `SupervisedWorker`: statements are sent without
 * waiting for those before, and another thread could not go on with an open transaction.
 */
export function openConnection(options: OpenOptions): SqliteConnection {
  const thread = new Worker(new URL('sqlite-thread.ts', import.meta.url), { workerData: options })
  const waiting = new Map<number, Waiting>()
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  let lastId = 0
  let closing = false
  let isOpen = false
  let failure: unknown

  function fail(error: unknown): void {
    failure ??= storageError(error)
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
  }
  thread.on('error', (error) => {
    fail(error)
    // Without its database a server only looks alive; it is better to exit and be restarted.
    if (isOpen) throw error
  })
  thread.on('exit', () => fail(new Error('the database is closed')))
  thread.on('message', (answer: Answer) => {
    const { resolve, reject } = waiting.get(answer.id)!
    waiting.delete(answer.id)
    isOpen = true
    if (waiting.size === 0 && !closing) thread.unref()
    if ('error' in answer) reject(storageError(toError(answer.error)))
    else resolve(answer)
  })
  thread.unref()

  return {
    run(sql, parameters) {
      if (failure) return Promise.reject(failure)
      const id = ++lastId
      const outcome = Promise.withResolvers<Outcome>()
      thread.postMessage({ id, sql, parameters } satisfies Question)
      waiting.set(id, outcome)
      thread.ref()
      return outcome.promise
    },
    async close() {
      closing = true
      thread.ref()
      thread.postMessage('close')
      await ended
    },
  }
}

function toError({ message, ...fields }: ErrorFields): Error {
  return Object.assign(new Error(message), fields)
}
