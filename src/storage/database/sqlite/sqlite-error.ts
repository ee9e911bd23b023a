import { dirname } from 'node:path'
import { AppError } from '../../../errors.ts'

/** SQLite result codes (sqlite.org/rescode.html): the low byte names the family. */
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
/**
 * The shared-memory file could not grow: the disk is full, though it is reported as an I/O error.
 */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8)
/** A file that is not a database, or is damaged. */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26])

/** Maps an error of SQLite to the error table; returns any other error unchanged. */
export function sqliteError(error: Error): Error {
  const { errcode } = error as { errcode?: unknown }
  if (typeof errcode !== 'number') return error
  if (errcode === SQLITE_IOERR_SHMSIZE || (errcode & 0xff) === SQLITE_FULL) {
    return new AppError('storage_full', 'no space is left', { cause: error })
  }
  if ((errcode & 0xff) !== SQLITE_IOERR) return error
  return new AppError('storage_unreadable', error.message, { cause: error })
}

/** Adds the file and the remedy to the error of a database that cannot be opened. */
export function openingError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const text = `Cannot open the database ${file}: ${error.message}`
  const remedy = DAMAGED.has(error.errcode) ? `; ${restoreRemedy(dirname(file))}` : ''
  return new Error(`${text}${remedy}`, { cause: error })
}

/** Returns how to replace a data folder whose database is damaged or gone. */
export function restoreRemedy(folder: string): string {
  return `move everything in ${folder} elsewhere, then run 'steno restore' with your folder of backups`
}
