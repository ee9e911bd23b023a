import { AppError, isDiskFull } from '../../errors.ts'
import { sqliteError } from '../database/sqlite/sqlite-error.ts'

/**
 * Maps an error of the file system or SQLite to the error table: a full disk, missing or unreadable
 * data. Returns any other error unchanged.
 */
export function storageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  const { code } = error as { code?: unknown }
  if (isDiskFull(error)) return new AppError('storage_full', 'no space is left', { cause: error })
  if (code === 'ENOENT') return new AppError('file_not_found', undefined, { cause: error })
  if (code === 'EIO' || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new AppError('storage_unreadable', code, { cause: error })
  }
  return sqliteError(error)
}

/** For `catch`: throws the error mapped to the error table. */
export function throwStorageError(error: unknown): never {
  throw storageError(error)
}
