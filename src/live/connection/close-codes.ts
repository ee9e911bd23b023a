import type { StopReason } from '../journal/log-records.ts'

/** The codes with which the server closes a WebSocket (RFC 6455, 7.4); the API documents them. */
export const closeCodes = {
  normal: 1000,
  frameTooLarge: 1009,
  internalError: 1011,
  restart: 1012,
  overloaded: 1013,
  misuse: 4400,
  unauthorized: 4401,
  sessionLimit: 4408,
  replaced: 4409,
  sessionEnded: 4410,
  sessionFailed: 4500,
} as const

/**
 * The codes that a socket reports if it received none, or was lost; they are never sent (RFC 6455,
 * 7.4.1).
 */
export const NO_STATUS = 1005
export const ABNORMAL_CLOSURE = 1006

/** The reasons that are sent with close codes; clients show them. */
export const closeReasons: Record<number, string> = {
  [closeCodes.frameTooLarge]: 'frame too large: send smaller ones',
  [closeCodes.internalError]: 'internal error',
  [closeCodes.restart]: 'server restarts, connect again',
  [closeCodes.overloaded]: 'server overloaded, or too much unread: connect again later',
  [closeCodes.misuse]:
    'protocol misuse: wrong offset, WAV header of another format, or 20 unreadable frames in a row',
  [closeCodes.unauthorized]: 'token or key unknown or expired',
  [closeCodes.sessionLimit]: 'session limit',
  [closeCodes.replaced]: 'replaced by a newer connection',
  [closeCodes.sessionEnded]: 'session ended',
  [closeCodes.sessionFailed]: 'session failed',
}

/** Returns the code that closes the connection of a session that was stopped for `reason`. */
export function closeCodeOf(reason: StopReason | undefined): number {
  const isLimit = reason === 'too_long' || reason === 'too_large'
  return isLimit ? closeCodes.sessionLimit : closeCodes.normal
}

/** Returns whether a code means that the session has ended and all its messages were sent. */
export function isSessionEnd(code: number | undefined): boolean {
  return code === closeCodes.normal || code === closeCodes.sessionLimit
}
