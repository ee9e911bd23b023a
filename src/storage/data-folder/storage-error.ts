import { dirname } from 'node:path'
import { AppError, isDiskFull } from '../../../errors.ts'

/** SQLite result codes (sqlite.org/rescode.html): the low byte names the family. */
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
/**
 * The shared-memory file could not grow: the disk is full, though it is reported as an I/O error.
 */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8)
/** A file that is not a database, or is damaged. */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26])

/**
 * Maps an error of the file system or SQLite to the error table: a full disk, missing or unreadable
 * data. Returns any other error unchanged.
 */
export function storageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (isDiskFull(error)) return full(error)
  if (code === 'ENOENT') return new AppError('file_not_found', undefined, { cause: error })
  if (code === 'EIO' || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new AppError('storage_unreadable', code, { cause: error })
  }
  if (typeof errcode !== 'number') return error
  if (errcode === SQLITE_IOERR_SHMSIZE || (errcode & 0xff) === SQLITE_FULL) return full(error)
  if ((errcode & 0xff) !== SQLITE_IOERR) return error
  return new AppError('storage_unreadable', error.message, { cause: error })
}

/** For `catch`: throws the error mapped to the error table. */
export function throwStorageError(error: unknown): never {
  throw storageError(error)
}

/** SQLite's own message for a database that cannot be opened names neither file nor remedy. */
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

function full(cause: Error): AppError {
  return new AppError('storage_full', 'no space is left', { cause })
}
