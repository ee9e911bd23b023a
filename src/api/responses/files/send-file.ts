import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../errors.ts'
import type { StoredRecording } from '../../../storage/recordings/recordings.ts'
import type { Storage } from '../../../storage/storage.ts'
import { parseByteRange } from './byte-range.ts'

/** The properties of a file that are needed to send it. */
export type SentFile = Pick<StoredRecording, 'id' | 'size' | 'filename' | 'extension'>

/** Which bytes to send, and with which content type. */
export type SendFileOptions = {
  file: SentFile
  contentType: string
  objects: Storage['objects']
}

/** Sends the bytes of a stored file, or the one requested range of them. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, contentType, objects }: SendFileOptions,
): Promise<FastifyReply> {
  // GET only (RFC 9110, 14.2). If-Range applies the range only while a validator still matches;
  // this server issues none.
  const isRanged = request.method === 'GET' && !request.headers['if-range']
  const requestedRange = isRanged ? request.headers.range : undefined
  const range = parseByteRange(requestedRange, file.size)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`)
    throw new AppError('range_not_satisfiable', `${requestedRange} of ${file.size} bytes`)
  }
  const { body } = await objects.read(file.id, range)
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${file.size}`)
  reply
    .type(contentType)
    .header('content-length', end - start + 1)
    .header('content-disposition', attachment(downloadName(file)))
    .header('accept-ranges', 'bytes')
    // The bytes are untrusted: no browser may treat them as a page of this server.
    .header('x-content-type-options', 'nosniff')
  if (request.method !== 'HEAD') return reply.send(body)
  body.destroy()
  // The body is a stream that ends at once, because the framework would set the length of any other
  // empty body to 0.
  return reply.send(Readable.from([]))
}

/** Returns the name of a file; one that was uploaded without a name gets its id. */
export function downloadName({ id, filename, extension }: Omit<SentFile, 'size'>): string {
  return filename ?? `${id}.${extension}`
}

/**
 * The limit of file systems. A longer name, such as the end of a URL, would exceed the header
 * limit.
 */
const MAX_FILENAME_CHARS = 255
/**
 * Characters that change the direction of text: they could make a name seem to have another ending.
 */
const DIRECTION_CHARACTERS = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * Returns a `Content-Disposition` header with the name in ASCII and, if that differs, the exact
 * name (RFC 6266), without characters that change the direction of text.
 */
export function attachment(name: string): string {
  const filename = name.replace(DIRECTION_CHARACTERS, '').slice(-MAX_FILENAME_CHARS)
  const asciiName = filename.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  if (asciiName === filename) return `attachment; filename="${asciiName}"`
  const encodedName = encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, percentEncode)
  return `attachment; filename="${asciiName}"; filename*=UTF-8''${encodedName}`
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
