import type { Dispatcher } from 'undici'
import { AppError } from '../errors.ts'

/** What a wrong address answers with; of any other type the bytes decide. */
const NOT_MEDIA =
  /^(text\/(html|xml|css|javascript)|application\/(xhtml\+xml|xml|json|javascript))\b/i

/** Throws unless the answer may be a recording of a size we take. */
export function checkAnswer(response: Dispatcher.ResponseData, maxBytes: number): void {
  const problem = judge(response, maxBytes)
  if (!problem) return
  discard(response)
  throw problem
}

function judge(
  { statusCode, headers }: Dispatcher.ResponseData,
  maxBytes: number,
): AppError | undefined {
  const answered = `the source answered ${statusCode}`
  if (statusCode === 401 || statusCode === 403) return new AppError('source_forbidden', answered)
  if (statusCode === 404 || statusCode === 410) return new AppError('source_not_found', answered)
  if (statusCode < 200 || statusCode > 299) return new AppError('source_unreachable', answered)
  const [type] = NOT_MEDIA.exec(String(headers['content-type'] ?? '')) ?? []
  if (type) return new AppError('media_unsupported', `the source answered with ${type}`)
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    // Asked not to; a packed body could unpack to any size.
    return new AppError('media_unsupported', 'the source sent it compressed')
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    return new AppError('media_too_large', `more than ${maxBytes} bytes`)
  }
  return undefined
}

/** Leaves a body unread; its end, by the closing agent, is no error. */
export function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {})
  body.destroy()
}
