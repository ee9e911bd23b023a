import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { isOpenAiPath, openAiStatusOf, toOpenAiError } from '../openai/errors.ts'
import { newRequestId, requestIdLines } from './request-id.ts'

/** The body of every unsuccessful response. */
export type ErrorBody = {
  timestamp: string
  path: string
  request_id: string
  statusCode: number
  message: string
  validation_errors?: readonly string[]
}

/** The default seconds after which a client may retry a temporary failure. */
const DEFAULT_RETRY_AFTER = 5

/** How long a client may take to read the last response on a connection. */
const LINGER_MS = 2000

/** Errors of the framework and of the HTTP parser, mapped to the error table. */
const frameworkErrors = new Map<string, { code: ErrorCode; detail?: string }>([
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    { code: 'content_type_unsupported', detail: 'send application/json, recordings as a form' },
  ],
  ['FST_ERR_BAD_URL', { code: 'route_not_found' }],
  ['FST_ERR_MAX_PARAM_LENGTH', { code: 'route_not_found' }],
  ['HPE_HEADER_OVERFLOW', { code: 'headers_too_large' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { code: 'headers_too_large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { code: 'request_timeout' }],
])

/** Sends `error`. An error that is not an `AppError` is logged, and the client gets a plain 500. */
export function sendError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  { toPayload }: { toPayload?: (text: string) => Readable } = {},
): FastifyReply {
  const appError = toAppError(error, 'internal')
  if (appError.status === 500) request.log.error({ err: error }, 'request failed')
  const retryAfter =
    appError.retryAfter ?? (appError.status === 503 ? DEFAULT_RETRY_AFTER : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)))
  // Fastify would close the connection after a refused body, but this body was read to its end.
  if (!reply.raw.hasHeader('connection')) reply.removeHeader('connection')
  const { url: path, id: requestId } = request
  const { status, body } = responseOf(appError, { path, requestId })
  const text = JSON.stringify(body)
  return reply
    .code(status)
    .header('x-error-code', appError.code)
    .header('content-length', Buffer.byteLength(text))
    .type('application/json; charset=utf-8')
    .send(toPayload ? toPayload(text) : text)
}

/**
 * Responds to a request that the HTTP parser could not read, and ends the connection, because the
 * start of the next request is unknown.
 */
export function sendClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  {
    requestIdHeaderNames,
    path = parsedPath(error),
  }: Pick<Config['http'], 'requestIdHeaderNames'> & { path?: string },
): void {
  // As in Node's own handler: a second response must not be written into the body of one that has
  // begun.
  const current = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
    socket.destroy()
    return
  }
  const appError = toAppError(error, 'request_unreadable')
  const requestId = newRequestId()
  const response = responseOf(appError, { path, requestId })
  const body = JSON.stringify(response.body)
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...requestIdLines(requestId, { requestIdHeaderNames }),
    `x-error-code: ${appError.code}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // The connection must end even if the client keeps sending, or never closes it.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** Returns the response to an error on a path; that of OpenAI's API has its own form. */
function responseOf(
  error: AppError,
  request: { path: string; requestId: string },
): { status: number; body: object } {
  if (!isOpenAiPath(request.path)) return { status: error.status, body: errorBody(error, request) }
  return { status: openAiStatusOf(error), body: toOpenAiError(error) }
}

function errorBody(
  { status, message, validationErrors }: AppError,
  { path, requestId }: { path: string; requestId: string },
): ErrorBody {
  return {
    timestamp: new Date().toISOString(),
    path: path.split('?', 1)[0]!,
    request_id: requestId,
    statusCode: status,
    message,
    ...(validationErrors && { validation_errors: validationErrors }),
  }
}

function toAppError(error: Error & { code?: unknown }, fallback: ErrorCode): AppError {
  if (error instanceof AppError) return error
  const { code, detail } = frameworkErrors.get(String(error.code)) ?? { code: fallback }
  return new AppError(code, detail, { cause: error })
}

/** Returns as much of the request line as the parser read before it failed. */
function parsedPath(error: Error & { rawPacket?: unknown }): string {
  const text = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''
  return /^[A-Z]+ (\/\S*)/.exec(text)?.[1] ?? '/'
}
