import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../../errors.ts'

/** The maximum length of a body, and the variable that sets it, if there is one. */
export type BodyLimit = { maxBytes: number; setting?: string }

/**
 * Makes `http` accept JSON bodies of at most `maxBytes`, and no other bodies. The body of a request
 * then is its bytes, which `BodyReader` parses and validates.
 */
export function acceptJson(http: FastifyInstance, limit: BodyLimit): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('application/json', async (request: FastifyRequest, body: Readable) => {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding !== 'identity') {
      throw new AppError('content_type_unsupported', `content-encoding ${encoding}`)
    }
    if (!isUtf8(type)) {
      throw new AppError('content_type_unsupported', 'a charset other than utf-8')
    }
    if (Number(request.headers['content-length'] ?? 0) > limit.maxBytes) throw bodyTooLarge(limit)
    return readBytes(body, limit)
  })
}

/** Makes `http` accept requests with or without a body. Bodies are not read. */
export function ignoreBodies(http: FastifyInstance): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/** Returns whether a content type has no charset, or UTF-8, which JSON requires (RFC 8259). */
function isUtf8(type: string): boolean {
  const charsets = type.matchAll(/;\s*charset\s*=\s*("?)([^";\s]*)\1/gi)
  return [...charsets].every(([, , name]) => /^utf-?8$/i.test(name!))
}

/** Reads the bytes of a body; rejects if there are more than `maxBytes`. */
function readBytes(stream: Readable, limit: BodyLimit): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const parts: Buffer[] = []
  let size = 0
  const rejectIncomplete = (cause?: Error) => {
    reject(new AppError('body_unreadable', 'it ended early', { cause }))
  }
  const collect = (part: Buffer) => {
    size += part.length
    parts.push(part)
    if (size <= limit.maxBytes) return
    stream.off('data', collect).pause()
    reject(bodyTooLarge(limit))
  }
  // Iterating over the stream would take several times as long.
  stream.on('data', collect)
  stream.once('end', () => {
    stream.off('close', rejectIncomplete)
    resolve(Buffer.concat(parts))
  })
  stream.once('error', rejectIncomplete).once('close', rejectIncomplete)
  return promise
}

/** Returns the error of a body above its limit. */
export function bodyTooLarge({ maxBytes, setting }: BodyLimit): AppError {
  const settingText = setting ? ` (${setting})` : ''
  return new AppError('body_too_large', `more than ${maxBytes} bytes of JSON${settingText}`)
}
