import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'

/**
 * Makes `http` accept JSON bodies of at most `maxBytes`, and no other kind of body. A request's
 * body is then its bytes: `Bodies` parses and validates them.
 */
export function acceptJson(http: FastifyInstance, { maxBytes }: { maxBytes: number }): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('application/json', async (request: FastifyRequest, body: Readable) => {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding !== 'identity') {
      throw new AppError('content_type_unsupported', `content-encoding ${encoding}`)
    }
    if (!isUtf8(type)) {
      throw new AppError('content_type_unsupported', 'a charset other than utf-8')
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
    return readBytes(body, { maxBytes })
  })
}

/**
 * Makes `http` accept requests with any body or none, without reading the body: its content does
 * not matter.
 */
export function ignoreBodies(http: FastifyInstance): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/** Returns whether a content type names no charset, or only that of JSON itself (RFC 8259). */
function isUtf8(type: string): boolean {
  const charsets = type.matchAll(/;\s*charset\s*=\s*("?)([^";\s]*)\1/gi)
  return [...charsets].every(([, , name]) => /^utf-?8$/i.test(name!))
}

/** Reads a body; refuses one of more than `maxBytes`. */
async function readBytes(stream: Readable, { maxBytes }: { maxBytes: number }): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of stream.iterator({ destroyOnReturn: false })) {
      size += part.length
      if (size > maxBytes) break
      parts.push(part)
    }
  } catch (cause) {
    throw new AppError('body_unreadable', 'it ended early', { cause })
  }
  if (size > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(parts)
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `more than ${maxBytes} bytes of JSON`)
}
