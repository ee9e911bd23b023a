import querystring from 'node:querystring'
import type { Readable } from 'node:stream'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../../../errors.ts'
import { sanitizeFileName } from '../../../../jobs/uploads/sanitize-file-name.ts'
import { MAX_PARTS, readParts } from './form-stream.ts'

/** Maximum bytes of all other parts together, which must be received even if they are not used. */
export const MAX_IGNORED_BYTES = 64 * 1024 * 1024

/** The recording of a form, while it arrives. */
export type AudioPart = { filename: string | null; body: AsyncIterable<Uint8Array> }

/** The name of the part with the recording, and the receiver of the text fields. */
export type AudioPartOptions = {
  name?: string
  onText?: (field: string, text: string) => void
}

/** The longest text field: no option of the API is longer. */
const MAX_TEXT_BYTES = 64 * 1024

/**
 * Finds the part `name`. Its `body` ends with the form. It fails with `upload_invalid` if the form
 * is incomplete or contains a second such part, so that its consumer stores a complete, valid form
 * or nothing.
 */
export async function readAudioPart(
  request: FastifyRequest,
  { name = 'audio', onText }: AudioPartOptions = {},
): Promise<AudioPart> {
  const parts = readParts(request)[Symbol.asyncIterator]()
  const { 'user-agent': client = '' } = request.headers
  let ignoredBytes = 0
  for (;;) {
    const part = await nextPart(parts)
    if (!part) throw new AppError('upload_invalid', `the form has no part named ${name}`)
    if (part.fieldname === name) {
      return {
        filename: sanitizeFileName(unescapeName(part.filename ?? '', client)),
        body: audioBytes(part),
      }
    }
    await readOtherPart(part)
  }

  async function* audioBytes({ file }: MultipartFile): AsyncGenerator<Uint8Array> {
    yield* partBytes(file)
    for (let part = await nextPart(parts); part; part = await nextPart(parts)) {
      if (part.fieldname === name) {
        throw new AppError('upload_invalid', `the form has more than one part named ${name}`)
      }
      await readOtherPart(part)
    }
  }

  async function readOtherPart({ fieldname, filename, file }: MultipartFile): Promise<void> {
    const isText = onText !== undefined && filename === undefined
    const text: Uint8Array[] = []
    let length = 0
    for await (const bytes of partBytes(file)) {
      length += bytes.byteLength
      ignoredBytes += bytes.byteLength
      if (ignoredBytes > MAX_IGNORED_BYTES || (isText && length > MAX_TEXT_BYTES)) {
        throw new AppError('body_too_large', `the parts beside ${name}`)
      }
      if (isText) text.push(bytes)
    }
    if (isText) onText(fieldname, Buffer.concat(text).toString())
  }
}

/**
 * Replaces the escapes of a name. Browsers, curl and fetch escape three characters only (WHATWG,
 * forms); aiohttp escapes all but those of `ESCAPED`, and only its name tells, because files may
 * really be called `100%25.mp3`. .NET and Spring write a name outside ASCII as an encoded word (RFC
 * 2047), base64 or quoted.
 */
function unescapeName(name: string, client: string): string {
  if (/\baiohttp\//i.test(client) && ESCAPED.test(name)) return querystring.unescape(name)
  return name
    .replace(/^=\?utf-8\?b\?([a-z\d+/]*=*)\?=$/i, (_, encoded) =>
      Buffer.from(encoded, 'base64').toString(),
    )
    .replace(/^=\?utf-8\?q\?([^?]*)\?=$/i, (_, encoded: string) =>
      querystring.unescape(
        encoded.replaceAll('%', '%25').replaceAll('_', ' ').replaceAll('=', '%'),
      ),
    )
    .replace(/%(?:22|0d|0a)/gi, decodeURIComponent)
}

const ESCAPED = /^(?:[\w.~-]|%[\da-f]{2})+$/i

async function nextPart(parts: AsyncIterator<MultipartFile>): Promise<MultipartFile | undefined> {
  try {
    const { value, done } = await parts.next()
    return done ? undefined : value
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const { code } = cause as { code?: unknown }
    if (code === 'FST_PARTS_LIMIT') {
      throw new AppError('body_too_large', `the form has more than ${MAX_PARTS} parts`, { cause })
    }
    throw new AppError('upload_invalid', 'the form is not valid', { cause })
  }
}

async function* partBytes(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* file
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('upload_invalid', 'the form ended early', { cause })
  }
}
