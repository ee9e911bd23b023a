import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { wallNow } from '../../clock.ts'
import { type LlmUsage, recordTokenUsage } from '../accounts/usage/usage.ts'
import { storageError } from '../data-folder/storage-error.ts'
import type { Db } from '../database/db.ts'
import type { JobRow } from '../database/tables.ts'
import { deleteWithObjects } from '../objects/delete-with-objects.ts'

/** The result of a job as the API returns it; here, any JSON value. */
export type JobResult = Record<string, unknown>

/** A result, or its JSON text. */
export type WrittenResult = JobResult | string

/**
 * The columns of a result: its text, or the object that contains it and the size of that object.
 */
export type ResultColumns = Pick<JobRow, 'result' | 'result_object' | 'result_size'>

/**
 * A result up to this size is stored in its row. Longer ones would make lists of jobs slow to read.
 */
export const MAX_INLINE_RESULT_BYTES = 256 * 1024

/**
 * Whether nothing of a result may remain after its deletion. A shared database keeps deleted data
 * for a while, in its tables and its log, so such a result is stored in an object.
 */
export type StoreOptions = { isErasable?: boolean }

/** Stores a result and returns the columns of its row. A long result gets a new object. */
export function storeResult(
  db: Db,
  result: WrittenResult,
  options: StoreOptions = {},
): Promise<ResultColumns> {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return storeResultText(db, once(text), options)
}

/**
 * Stores the JSON text of a result from chunks, and returns the columns of its row. No chunk may
 * end within a character. A long text is never in memory as a whole.
 */
export async function storeResultText(
  db: Db,
  chunks: AsyncIterable<string>,
  { isErasable = false }: StoreOptions = {},
): Promise<ResultColumns> {
  const maxInlineBytes = isErasable && db.isShared ? -1 : MAX_INLINE_RESULT_BYTES
  const source = chunks[Symbol.asyncIterator]()
  try {
    const start: string[] = []
    for (let bytes = 0; bytes <= maxInlineBytes; ) {
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

/** Deletes the object of a result whose row was not written. */
export async function deleteResultObject(
  db: Db,
  { result_object }: Pick<ResultColumns, 'result_object'>,
): Promise<void> {
  if (result_object !== null) await db.deletions.delete([result_object])
}

/**
 * Runs `write`, which writes rows that refer to new objects. If it returns false or undefined,
 * nothing was written, and `deleteObjects` deletes the objects. If the outcome is unknown, the
 * objects stay, and the next start deletes those without a row.
 */
export async function commitOrDelete<T>(
  db: Pick<Db, 'dialect'>,
  write: () => Promise<T>,
  deleteObjects: () => Promise<unknown>,
): Promise<T> {
  let mayBeWritten = false
  try {
    const result = await write()
    mayBeWritten = result !== undefined && result !== false
    return result
  } catch (error) {
    mayBeWritten = db.dialect.isOutcomeUnknown(error)
    throw error
  } finally {
    if (!mayBeWritten) await deleteObjects()
  }
}

/** Where the JSON text of a result is stored: in the row, or in its own object. */
export type ResultLocation = { text: string } | { object: string }

/** Returns where the result of a row is stored; null if there is none. */
export function resultLocation({
  result,
  result_object,
}: Omit<ResultColumns, 'result_size'>): ResultLocation | null {
  if (result_object !== null) return { object: result_object }
  return result === null ? null : { text: result }
}

/**
 * Returns the JSON text of a result; undefined if its object is gone, because the job was deleted
 * or its result was replaced after the row was read.
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

/** The result of a finished job, as it was when its row was read. */
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
 * Replaces a result that was read, in one statement, and counts the tokens that language models
 * used in the same transaction. Returns false, and changes nothing, if the job was deleted or has
 * another result in the meantime. Changes nothing else of the job.
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
  const replaced = 'object' in stored ? [stored.object] : []
  const replace = async (tx: Db) => {
    if (!(await replaceRow(tx, { jobId, read, columns, llm }))) return undefined
    return { objects: replaced }
  }
  const change = await commitOrDelete(
    db,
    () => deleteWithObjects(db, replace),
    () => deleteResultObject(db, columns),
  )
  if (change) await db.deletions.delete(replaced)
  return change !== undefined
}
