import { AddressRefusedError } from './check-url.ts'

/** Why a request got no response, or only part of one. */
export type ConnectionError = {
  kind: 'refused' | 'late' | 'failed'
  /** A description without codes and addresses. */
  detail: string
}

const BROKE_OFF = 'the connection broke off'

/**
 * Descriptions of causes, for users who do not know the codes of the HTTP client and of the system.
 */
const wordings: [code: RegExp, detail: string][] = [
  [/^ENOTFOUND$/, 'its host name does not resolve'],
  [/^EAI_\w+$/, 'its name could not be looked up'],
  [/^ECONNREFUSED$/, 'nothing listens at the address'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM)$/, 'no route leads to the address'],
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE|HPE_INVALID_EOF_STATE)$/, BROKE_OFF],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, BROKE_OFF],
  [/^(UND_ERR_HEADERS|HPE_HEADER)_OVERFLOW$/, 'the headers of its answer are too large'],
  [/^TOO_MANY_INFORMATIONAL_RESPONSES$/, 'it sent too many informational responses'],
  [/^(HPE_|HTTPParserError)/, 'its answer is not HTTP'],
  [/CERT|VERIFY_LEAF_SIGNATURE/, 'its certificate is not valid'],
  [/^(ERR_SSL|ERR_TLS|EPROTO)/, 'the TLS handshake failed'],
]

const timeouts: [code: string, detail: string][] = [
  ['UND_ERR_CONNECT_TIMEOUT', 'it accepted no connection in time'],
  ['ETIMEDOUT', 'it accepted no connection in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it did not answer'],
  ['UND_ERR_BODY_TIMEOUT', 'it sent nothing more'],
]

/** Describes an error of the HTTP client for users. */
export function describeConnectionError(error: unknown): ConnectionError {
  const { code, name, cause } = error as Partial<Record<'code' | 'name' | 'cause', unknown>>
  const refused = [error, cause].find((one) => one instanceof AddressRefusedError)
  if (refused) return { kind: 'refused', detail: refused.message }
  const late = timeouts.find(([timeoutCode]) => timeoutCode === code)
  if (late) return { kind: 'late', detail: late[1] }
  const wording = wordings.find(([pattern]) => pattern.test(String(code ?? name)))
  return { kind: 'failed', detail: wording?.[1] ?? 'the connection failed' }
}

/** Returns whether a connection ended before all was received. */
export function hasBrokenOff(error: unknown): boolean {
  return describeConnectionError(error).detail === BROKE_OFF
}

/** Errors before there is a connection that may pass within a moment. */
const TRANSIENT =
  /^(EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EMFILE|ENFILE|ENOBUFS)$/

/**
 * Returns whether a request failed before it had a connection, for a reason that may pass by
 * itself.
 */
export function isTransientError(error: unknown): boolean {
  return TRANSIENT.test(String((error as { code?: unknown }).code))
}
