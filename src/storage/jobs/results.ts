import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { wallNow } from '../../clock.ts'
import { type LlmUsage, recordTokenUsage } from '../accounts/usage/usage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { storageError } from '../database/sqlite/storage-error.ts'
import type { JobRow } from '../database/tables.ts'

/** The result of a job as the API returns it. To this module it is only a JSON value. */
export type JobResult = Record<string, unknown>

/** A result, or the JSON text of one that was serialized elsewhere. */
export type WrittenResult = JobResult | string

/** The columns of a result: its text, or the object that holds it and the size of that in bytes. */
export type ResultColumns = Pick<JobRow, 'result' | 'result_object' | 'result_size'>

/**
 * A result up to this size is stored in its row; a longer one would make every list of jobs slow to
 * read.
 */
export const MAX_INLINE_RESULT_BYTES = 256 * 1024

/**
 * Whether nothing may be left of a result once it is deleted: a database that others share keeps
 * what it deletes for a while, in its tables and in its log, so an object holds it.
 */
export type StoreOptions = { isErasable?: boolean }

/**
 * Writes a long result to an object of its own, never over another one; returns the columns of the
 * row.
 */
export function storeResult(
  db: Db,
  result: WrittenResult,
  options: StoreOptions = {},
): Promise<ResultColumns> {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return storeResultText(db, once(text), options)
}

/**
 * Writes the JSON text of a long result from chunks, none of which ends within a character, and
 * returns the columns of the row. A long text is never in memory as a whole.
 */
export async function storeResultText(
  db: Db,
  chunks: AsyncIterable<string>,
  { isErasable = false }: StoreOptions = {},
): Promise<ResultColumns> {
  const inline = isErasable && db.isShared ? -1 : MAX_INLINE_RESULT_BYTES
  const source = chunks[Symbol.asyncIterator]()
  try {
    const start: string[] = []
    for (let bytes = 0; bytes <= inline; ) {
      const { value, done } = await source.next()
      if (done) return { result: start.join(''), result_object: null, result_size: null }
      start.push(value)
      bytes += Buffer.byteLength(value)
    }
    const rest = { [Symbol.asyncIterator]: () => source }
    return await writeObject(db, start, rest)
  } finally {
    await source.return?.()
  }
}

async function writeObject(
  db: Db,
  start: readonly string[],
  rest: AsyncIterable<string>,
): Promise<ResultColumns> {
  const id = randomUUID()
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of start) yield Buffer.from(chunk)
    for await (const chunk of rest) yield Buffer.from(chunk)
  }
  const { signal } = new AbortController()
  const limits = { maxBytes: Number.POSITIVE_INFINITY, signal }
  const { size } = await db.objects.write(id, bytes(), limits)
  return { result: null, result_object: id, result_size: size }
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

/** Deletes what was stored for a row that then did not take it. */
export async function dropResult(
  db: Db,
  { result_object }: Pick<ResultColumns, 'result_object'>,
): Promise<void> {
  if (result_object !== null) await db.deletions.delete([result_object])
}

/**
 * Has rows take objects that were stored for them: `take` resolves to false or undefined if they
 * did not, and then `drop` deletes the objects. Where the outcome is unknown they stay; what no row
 * refers to is deleted at the next start.
 */
export async function commitOrDelete<T>(
  db: Pick<Db, 'dialect'>,
  take: () => Promise<T>,
  drop: () => Promise<unknown>,
): Promise<T> {
  let mayBeTaken = false
  try {
    const takenResult = await take()
    mayBeTaken = takenResult !== undefined && takenResult !== false
    return takenResult
  } catch (error) {
    mayBeTaken = db.dialect.isOutcomeUnknown(error)
    throw error
  } finally {
    if (!mayBeTaken) await drop()
  }
}

/** Where the JSON text of a result is stored: in the row, or in an object of its own. */
export type ResultLocation = { text: string } | { object: string }

/** Reads from a row where its result is stored; null while there is none. */
export function resultLocation({
  result,
  result_object,
}: Omit<ResultColumns, 'result_size'>): ResultLocation | null {
  if (result_object !== null) return { object: result_object }
  return result === null ? null : { text: result }
}

/**
 * Returns the JSON text of a result; undefined if its object is gone, because the job was deleted
 * after its row was read, or its result was replaced.
 */
export async function readResult(db: Db, stored: ResultLocation): Promise<string | undefined> {
  if ('text' in stored) return stored.text
  try {
    const { body } = await db.objects.read(stored.object)
    return await text(body)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'file_not_found') return undefined
    throw storageError(error)
  }
}

/** A result of a finished job, as its row was read. */
export type ReadResult = { jobId: string; stored: ResultLocation }

type ResultReplacement = {
  jobId: string
  /** The column of the result that was read, and its value. */
  read: readonly ['result' | 'result_object', string]
  columns: ResultColumns
  llm: LlmUsage | undefined
}

async function replaceRow(
  tx: Db,
  { jobId, read: [column, value], columns, llm }: ResultReplacement,
): Promise<boolean> {
  const change = tx.sql.updateTable('jobs').set(columns).where('id', '=', jobId)
  const job = await change
    .where(column, '=', value)
    .returning(['account', 'kind', 'key_id'])
    .executeTakeFirst()
  if (job && llm) await recordTokenUsage(tx, { ...job, at: wallNow() }, llm)
  return job !== undefined
}

/**
 * Replaces a result that was read, in one statement, and counts what language models took for that
 * in its transaction. Returns false, and changes nothing, if the job was deleted meanwhile or
 * already has another result. Only the result of the job changes.
 */
export async function replaceResult(
  db: Db,
  { jobId, stored }: ReadResult,
  result: WrittenResult,
  { llm }: { llm?: LlmUsage | undefined } = {},
): Promise<boolean> {
  const columns = await storeResult(db, result, { isErasable: 'object' in stored })
  const read =
    'text' in stored
      ? (['result', stored.text] as const)
      : (['result_object', stored.object] as const)
  const replace = (tx: Db) => replaceRow(tx, { jobId, read, columns, llm })
  const isReplaced = await commitOrDelete(
    db,
    () => inTransaction(db, replace),
    () => dropResult(db, columns),
  )
  if (isReplaced && 'object' in stored) await db.deletions.delete([stored.object])
  return isReplaced
}
