import { AppError } from '../../../errors.ts'

/**
 * SQLSTATE codes (postgresql.org/docs/current/errcodes-appendix.html): a transaction that failed
 * only because of others, and succeeds when it is repeated.
 */
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'

/** The code with which a standby, or another database that only reads, refuses a write. */
const READ_ONLY = '25006'
/** The code for a statement that the user has no right to. */
const INSUFFICIENT_PRIVILEGE = '42501'
/** The code for a full disk of the database. */
const DISK_FULL = '53100'
/**
 * The codes with which the database reports that it cannot read or write its files, or found them
 * damaged.
 */
const UNREADABLE: ReadonlySet<string> = new Set(['58030', 'XX001', 'XX002'])
/**
 * The codes with which the connection or the server is unavailable: a failed connection (class 08),
 * too many connections, shutdowns, a start, a standby, a canceled statement, a lock that was not
 * free in time, and a transaction that was idle for too long.
 */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  ...['53300', '57P01', '57P02', '57P03', '57P05', READ_ONLY, '57014', '55P03', '25P03', '25P04'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTDOWN', 'ENOENT'],
])
/** The messages of such errors that the driver throws without a code. */
const UNAVAILABLE_TEXT =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|timeout e|Client was closed|This socket has been ended)/

/** Seconds after which a refused request may succeed: new connections are opened at once. */
const RETRY_AFTER = 2

/** Returns the code of an error; '' if it has none, or if there is no error. */
function postgresCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Returns whether an error of the driver means that the database cannot be reached or used now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(isUnavailable)
  const code = postgresCode(error)
  return code.startsWith('08') || UNAVAILABLE.has(code) || UNAVAILABLE_TEXT.test(error.message)
}

/** Returns whether the connection of a failed statement is unusable. */
export function isBroken(error: unknown): boolean {
  // A server that responds with the error of a statement is available.
  const isResponse = ['57014', '55P03', '53300', READ_ONLY].includes(postgresCode(error))
  return isUnavailable(error) && !isResponse
}

/** Returns the error of a database that accepts no writes now: a standby may be promoted later. */
export function readOnlyError(): Error {
  return Object.assign(new Error('it is read-only, as a standby is'), { code: READ_ONLY })
}

/** Returns whether the user of the connection has no right to what a statement does. */
export function isRefusal(error: unknown): boolean {
  return postgresCode(error) === INSUFFICIENT_PRIVILEGE
}

/** Codes of statements that were not sent: there was no connection, or the server accepted none. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  ...['57P03', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTDOWN', 'ENOENT'],
])

/**
 * Returns whether a change may have been made although it failed: the connection was lost before
 * the response, which also happens while a commit waits for a standby.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  const reason = error instanceof AppError ? cause : error
  if (!isBroken(reason) || reason instanceof AggregateError) return false
  return !NEVER_SENT.has(postgresCode(reason)) && !/^timeout e/.test((reason as Error).message)
}

/**
 * Returns whether a transaction failed only because of others, so that it may be repeated as it is.
 */
export function isConflict(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  const code = postgresCode(error instanceof AppError ? cause : error)
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED
}

/**
 * Maps an error of the driver to the error table; returns any other error unchanged. The messages
 * of the driver contain addresses, so they stay in the cause, which only the log shows.
 */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  const code = postgresCode(error)
  if (code === DISK_FULL) {
    return new AppError('storage_full', 'the database has no space left', { cause: error })
  }
  if (UNREADABLE.has(code)) {
    return new AppError('storage_unreadable', 'the database', { cause: error })
  }
  if (!isUnavailable(error)) return error
  const detail = /^[0-9A-Z]{5}$/.test(code) ? `SQLSTATE ${code}` : undefined
  return new AppError('database_unavailable', detail, { cause: error, retryAfter: RETRY_AFTER })
}
