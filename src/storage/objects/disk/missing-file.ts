import { AppError } from '../../../errors.ts'

/** Returns whether an error says that a file or an object does not exist. */
export function isMissingFile(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'ENOENT' || (error instanceof AppError && code === 'file_not_found')
}

/** Handles an error of a read: returns undefined for a missing file. */
export function ignoreMissingFile(error: unknown): undefined {
  if (!isMissingFile(error)) throw error
}
