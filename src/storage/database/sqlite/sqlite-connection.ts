import { Worker } from 'node:worker_threads'
import { storageError } from '../../data-folder/storage-error.ts'

/** Which database a thread opens. */
export type SqliteOpenOptions = { file: string; readOnly: boolean }

/**
 * `inTransaction`: the statement belongs to a transaction, and must not run after that has ended or
 * failed.
 */
export type StatementOptions = { inTransaction?: boolean }

/** A statement with its values. */
export type BoundStatement = { sql: string; parameters: readonly unknown[] }

/** Statements of one batch; `texts` holds each text once, and `text` is its index. */
type BatchMessage = {
  texts: readonly string[]
  batch: readonly { text: number; parameters: readonly unknown[] }[]
}

type RequestedStatements = (BoundStatement & StatementOptions) | BatchMessage

/** A statement sent to the thread, or several that are a transaction of their own. */
export type StatementRequest = { id: number } & RequestedStatements

/** The outcome of a statement. */
export type StatementOutcome = { rows: unknown[]; changes: number }

/**
 * What a statement returned: the names of its columns once, and rows of their values, which cross
 * threads in a fifth of the time of objects.
 */
export type StatementRows = { columns: readonly string[]; rows: unknown[][]; changes: number }

/** The outcomes of the request `id`, one per statement, or why it failed. */
export type StatementResult = { id: number } & (
  | { results: readonly StatementRows[] }
  | { error: ErrorFields }
)

type ErrorFields = { message: string; code?: string | undefined; errcode?: number | undefined }

/** A connection to a SQLite database, held by a thread of its own. */
export type SqliteConnection = {
  /** Runs one statement. Statements of one connection run in the order of the calls. */
  run(
    sql: string,
    parameters: readonly unknown[],
    options?: StatementOptions,
  ): Promise<StatementOutcome>
  /**
   * Runs statements in a transaction of their own, which is sent at once, or none of them. No other
   * transaction of the connection may be open.
   */
  runBatch(batch: readonly BoundStatement[]): Promise<StatementOutcome[]>
  close(): Promise<void>
}

type PendingRequest = {
  resolve(results: readonly StatementRows[]): void
  reject(error: unknown): void
}

/**
 * Opens a connection in a thread. SQLite blocks its caller for the length of a sync or a long
 * query, and the event loop, which serves everyone, must not be blocked. The thread does not keep
 * the process alive; a pending statement does. The thread is not a `SupervisedWorker`: statements
 * are sent without waiting for earlier ones, and another thread could not continue an open
 * transaction.
 *
 * A message between threads costs more than a short statement, so the statements of one turn of the
 * event loop are sent in one message.
 */
export function openConnection(options: SqliteOpenOptions): SqliteConnection {
  const thread = new Worker(new URL('sqlite-thread.ts', import.meta.url), { workerData: options })
  const requests: StatementRequest[] = []
  const waiting = new Map<number, PendingRequest>()
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
  thread.on('message', (responses: StatementResult[]) => {
    isOpen = true
    for (const response of responses) {
      const { resolve, reject } = waiting.get(response.id)!
      waiting.delete(response.id)
      if ('error' in response) reject(storageError(toError(response.error)))
      else resolve(response.results)
    }
    if (waiting.size === 0 && !closing) thread.unref()
  })
  thread.unref()

  function send(): void {
    sendTogether(thread, requests.splice(0), (id, error) => {
      waiting.get(id)?.reject(error)
      waiting.delete(id)
    })
  }

  function request<T>(
    statements: RequestedStatements,
    read: (results: readonly StatementRows[]) => T,
  ): Promise<T> {
    if (failure) return Promise.reject(failure)
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (requests.push({ id, ...statements }) === 1) setImmediate(send)
    if (waiting.size === 0) thread.ref()
    waiting.set(id, { resolve: (results) => resolve(read(results)), reject })
    return promise
  }

  return {
    run: (sql, parameters, options) => {
      return request({ sql, parameters, ...options }, ([result]) => toOutcome(result!))
    },
    runBatch: (batch) => request(toMessage(batch), (results) => results.map(toOutcome)),
    async close() {
      closing = true
      send()
      thread.ref()
      thread.postMessage('close')
      await ended
    },
  }
}

/** Long texts that a batch repeats would take most of the time of sending it. */
function toMessage(batch: readonly BoundStatement[]): BatchMessage {
  const texts = [...new Set(batch.map(({ sql }) => sql))]
  const statements = batch.map(({ sql, parameters }) => ({ text: texts.indexOf(sql), parameters }))
  return { texts, batch: statements }
}

/** Sends statements in one message. A value that cannot be sent fails its own statement. */
function sendTogether(
  thread: Worker,
  requests: readonly StatementRequest[],
  fail: (id: number, error: unknown) => void,
): void {
  try {
    if (requests.length > 0) thread.postMessage(requests)
  } catch {
    for (const request of requests) {
      try {
        thread.postMessage([request])
      } catch (error) {
        fail(request.id, error)
      }
    }
  }
}

type ReadRow = (values: readonly unknown[]) => Record<string, unknown>

/** Converts rows to the objects that callers read. */
export function toOutcome({ columns, rows, changes }: StatementRows): StatementOutcome {
  return { rows: rows.length > 0 ? rows.map(rowReader(columns)) : [], changes }
}

const rowReaders = new Map<string, ReadRow>()
/**
 * Maximum compiled readers that are kept. There are a few dozen lists of columns; a migration may
 * add some.
 */
const MAX_ROW_READERS = 500

/**
 * Returns a function that makes an object of the values of these columns. The function is compiled,
 * because setting the columns one by one takes twenty times as long.
 */
function rowReader(columns: readonly string[]): ReadRow {
  const key = JSON.stringify(columns)
  const cachedReader = rowReaders.get(key)
  if (cachedReader) return cachedReader
  // A computed key is a property of the row, whatever its name.
  const fields = columns.map((column, i) => `[${JSON.stringify(column)}]: values[${i}]`)
  const read = new Function('values', `return { ${fields.join()} }`) as ReadRow
  if (rowReaders.size === MAX_ROW_READERS) rowReaders.clear()
  rowReaders.set(key, read)
  return read
}

function toError({ message, ...fields }: ErrorFields): Error {
  return Object.assign(new Error(message), fields)
}
