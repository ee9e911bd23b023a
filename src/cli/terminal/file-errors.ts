import { messageOf } from '../../errors.ts'
import { sanitize } from './sanitize.ts'

const DENIED = 'permission denied'

/** The reasons of failures that are the same for reading and writing. */
export const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
}

/** Explains why a file cannot be read, in plain words where the reason is known. */
export function explainReading(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'the file does not exist'
  return FILE_REASONS[code] ?? sanitize(message)
}

/**
 * Returns the message of the error that ends a command. Permissions to a file or folder may be
 * missing anywhere; the message of the system is for programmers.
 */
export function explainFailure(error: unknown): string {
  const { code = '', path, syscall = '' } = (error ?? {}) as NodeJS.ErrnoException
  const isOfFile = typeof path === 'string' && !/^(spawn|listen|connect)/.test(syscall)
  if (!isOfFile || FILE_REASONS[code] !== DENIED) return messageOf(error)
  return `Cannot open ${sanitize(path)}: ${DENIED}`
}
