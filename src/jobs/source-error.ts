import { AppError } from '../errors.ts'

/** What stood in the way, in words: the codes of the HTTP client and of the system mean nothing to a user. */
const wordings: [code: RegExp, detail: string][] = [
  [/^(ENOTFOUND|EAI_\w+)$/, 'its name leads to no address'],
  [/^ECONNREFUSED$/, 'nothing listens at the address'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EPERM)$/, 'there is no way to the address'],
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/, 'the connection broke off'],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'the connection broke off'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the headers of its answer are too large'],
  [/^(HPE_|HTTPParserError)/, 'its answer is not HTTP'],
  [/CERT|VERIFY_LEAF_SIGNATURE/, 'its certificate is not valid'],
  [/^(ERR_SSL|ERR_TLS|EPROTO)/, 'it does not speak TLS as it should'],
]

const timeouts: [code: string, detail: string][] = [
  ['UND_ERR_CONNECT_TIMEOUT', 'it took no connection'],
  ['ETIMEDOUT', 'it took no connection'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it did not answer'],
  ['UND_ERR_BODY_TIMEOUT', 'it sent nothing more'],
]

/** What the HTTP client reports of a source, in the words of the error table. */
export function sourceError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code, name, cause } = error as Partial<Record<'code' | 'name' | 'cause', unknown>>
  if (cause instanceof AppError) return cause
  const late = timeouts.find(([known]) => known === code)
  if (late) return new AppError('source_timeout', late[1], { cause: error })
  const wording = wordings.find(([pattern]) => pattern.test(String(code ?? name)))
  return new AppError('source_unreachable', wording?.[1] ?? 'the connection failed', {
    cause: error,
  })
}
