import type { Dispatcher } from 'undici'
import { AppError } from '../../errors.ts'
import { isKnownEncoding } from './decode-body.ts'

/** Content types that a wrong URL returns; for any other type, the bytes decide. */
const NOT_MEDIA =
  /^(text\/(html|xml|css|javascript)|application\/(xhtml\+xml|xml|json|javascript))\b/i

/** Throws unless the response may be a recording of an accepted size. */
export function checkResponse(response: Dispatcher.ResponseData, maxBytes: number): void {
  const error = findResponseRefusal(response, maxBytes)
  if (!error) return
  discardBody(response)
  throw error
}

function findResponseRefusal(
  { statusCode, headers }: Dispatcher.ResponseData,
  maxBytes: number,
): AppError | undefined {
  const detail = `the source responded with ${statusCode}`
  if (statusCode === 401 || statusCode === 403) return new AppError('source_forbidden', detail)
  if (statusCode === 404 || statusCode === 410) return new AppError('source_not_found', detail)
  if (statusCode < 200 || statusCode > 299) {
    const isTransient = asksToRetry({ statusCode, headers })
    return new AppError('source_unreachable', detail, { isTransient })
  }
  const [type] = NOT_MEDIA.exec(String(headers['content-type'] ?? '')) ?? []
  if (type) return new AppError('media_unsupported', `the source sent ${type}`)
  const encoding = encodingOf({ headers })
  if (!isKnownEncoding(encoding)) {
    const name = /^[\w-]{1,20}$/.test(encoding) ? ` as ${encoding}` : ''
    return new AppError('media_unsupported', `the source sent it compressed${name}`)
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    return new AppError('media_too_large', `more than ${maxBytes} bytes (STENO_MAX_FILE_BYTES)`)
  }
  return undefined
}

/** Returns the content coding of a body; `identity` if it is not compressed. */
export function encodingOf({ headers }: Pick<Dispatcher.ResponseData, 'headers'>): string {
  return String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase()
}

/** Returns whether a source that refuses a request asks the client to retry later. */
function asksToRetry({
  statusCode,
  headers,
}: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>): boolean {
  return statusCode === 429 || (statusCode === 503 && headers['retry-after'] !== undefined)
}

/** Discards a body unread, and ignores the error that closing the agent then causes. */
export function discardBody({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {})
  body.destroy()
}
