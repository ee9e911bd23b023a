import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

/** Nothing we are asked for nests deeper than six levels; far deeper values only hurt whoever walks them. */
const MAX_JSON_DEPTH = 64

/** To decode, to parse and to judge a body of this length takes half a millisecond each: others have their turn between. */
const LONG_CHARACTERS = 100_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Makes `http` read JSON bodies of at most `maxBytes`, and no other kind of body. */
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
    const text = await readJsonText(body, { maxBytes })
    if (text.length < LONG_CHARACTERS) return parse(text)
    await turn()
    const value = parse(text)
    await turn()
    return value
  })
}

/** Makes `http` take requests with any body or none, and read no body: what a client sends along is its own affair. */
export function ignoreBodies(http: FastifyInstance): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', (_request, _body, done) => done(null))
}

/** Whether a content type names no charset, or only that of JSON itself (RFC 8259). */
function isUtf8(type: string): boolean {
  const charsets = type.matchAll(/;\s*charset\s*=\s*("?)([^";\s]*)\1/gi)
  return [...charsets].every(([, , name]) => /^utf-?8$/i.test(name!))
}

/**
 * Keys such as `__proto__` are fields like any other to this parser, the value's own; no reader of ours
 * copies fields by assignment, which alone would let them reach a prototype.
 */
function parse(text: string): unknown {
  if (text === '') throw new AppError('body_unreadable', 'it is empty')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('body_unreadable', 'it is not valid JSON', { cause })
  }
}

/** Reads the text of a JSON body; one of more than `maxBytes` is refused. */
async function readJsonText(stream: Readable, { maxBytes }: { maxBytes: number }): Promise<string> {
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
  return decode(Buffer.concat(parts))
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `more than ${maxBytes} bytes of JSON`)
}

function decode(bytes: Buffer): string {
  if (nestsTooDeep(bytes)) {
    throw new AppError('body_unreadable', `it nests deeper than ${MAX_JSON_DEPTH} levels`)
  }
  try {
    // A byte order mark at the start is dropped: some clients cannot help writing it.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AppError('body_unreadable', 'it is not UTF-8', { cause })
  }
}

/** Counts brackets outside strings, so that no deep value is ever built. */
function nestsTooDeep(json: Buffer): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inString && byte === BACKSLASH) i++
    else if (byte === QUOTE) inString = !inString
    else if (inString) continue
    else if (byte === 0x5b || byte === 0x7b)
      depth++ // [ {
    else if (byte === 0x5d || byte === 0x7d) depth-- // ] }
    if (depth > MAX_JSON_DEPTH) return true
  }
  return false
}
