import type { Dispatcher } from 'undici'
import { AppError } from '../../errors.ts'
import { isKnownEncoding } from './decode-body.ts'

/**
 * Content types of pages, which a wrong URL returns. Some scripts send recordings with such a type:
 * it is believed only if the body starts with text.
 */
const PAGE_TYPE =
  /^(text\/(html|xml|css|javascript)|application\/(xhtml\+xml|xml|json|javascript))\b/i

/** Every recording has a control character within this many bytes. */
const START_BYTES = 64

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

/** Returns the bytes of a body, which throw `media_unsupported` if they are those of a page. */
export function refusePage(
  body: AsyncIterable<Uint8Array>,
  { headers }: Pick<Dispatcher.ResponseData, 'headers'>,
): AsyncIterable<Uint8Array> {
  const [type] = PAGE_TYPE.exec(String(headers['content-type'] ?? '')) ?? []
  return type
    ? refuseText(body, new AppError('media_unsupported', `the source sent ${type}`))
    : body
}

async function* refuseText(
  body: AsyncIterable<Uint8Array>,
  error: AppError,
): AsyncGenerator<Uint8Array> {
  let isText = true
  let length = 0
  for await (const bytes of body) {
    isText &&= !bytes.subarray(0, START_BYTES).some(isControl)
    length += bytes.byteLength
    if (isText && length >= START_BYTES) throw error
    yield bytes
  }
  if (isText && length > 0) throw error
}

/** Returns whether a byte is a control character other than white space. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d)
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
