import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Db } from './db.ts'
import { storageError } from './storage-error.ts'
import type { JobRow } from './tables.ts'

/** What a job answers, in the words of the API. To this room it is only a JSON value. */
export type JobResult = Record<string, unknown>

type ResultColumns = Pick<JobRow, 'result' | 'result_object'>

/** A result up to this size lies in its row; a longer one would make every list of jobs slow to read. */
export const MAX_INLINE_RESULT_BYTES = 256 * 1024

/** Writes a long result to an object of its own, never over another; returns what the row has to hold. */
export async function storeResult(db: Db, result: JobResult): Promise<ResultColumns> {
  const text = JSON.stringify(result)
  const bytes = Buffer.from(text)
  if (bytes.byteLength <= MAX_INLINE_RESULT_BYTES) return { result: text, result_object: null }
  const id = randomUUID()
  const signal = new AbortController().signal
  await db.objects.write(id, once(bytes), { maxBytes: bytes.byteLength, signal })
  return { result: null, result_object: id }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Where the JSON text of a result lies: in the row, or in an object of its own. */
export type StoredResult = { text: string } | { object: string }

/** Where a row says that its result lies; null while there is none. */
export function storedResult({ result, result_object }: ResultColumns): StoredResult | null {
  if (result_object !== null) return { object: result_object }
  return result === null ? null : { text: result }
}

/**
 * The JSON text of a result; undefined when its object is gone, which happens to a job that was
 * deleted after its row was read.
 */
export async function readResult(db: Db, stored: StoredResult): Promise<string | undefined> {
  if ('text' in stored) return stored.text
  try {
    return await readFile(db.objects.path(stored.object), 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw storageError(error)
  }
}
