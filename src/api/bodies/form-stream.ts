import type { IncomingMessage } from 'node:http'
import { Transform, type TransformCallback } from 'node:stream'
import type { FastifyMultipartBaseOptions, MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'

/** Browsers and SDKs send a handful of fields beside the file; each costs as much as a small request. */
export const MAX_PARTS = 500

/** Parts that the parser of forms is given at once: it takes a tenth of a millisecond for each. */
const PARTS_AT_ONCE = 20

/** A part names its field, its file and a type; further lines, and what is longer, are left out. */
const MAX_HEADER_LINES = 50
const MAX_HEADER_BYTES = 16 * 1024

/** How forms are parsed: the store counts the bytes of the file; whatever else is there is read as a file too. */
export const formOptions: FastifyMultipartBaseOptions = {
  limits: {
    fileSize: Number.POSITIVE_INFINITY,
    parts: MAX_PARTS,
    headerPairs: MAX_HEADER_LINES,
    // Not among the declared ones.
    ...{ headerSize: MAX_HEADER_BYTES },
  },
  isPartAFile: () => true,
}

/** The parts of a form, as they arrive. */
export function readParts(request: FastifyRequest): AsyncIterable<MultipartFile> {
  const raw = { value: openFormStream(request.raw) }
  return (Object.create(request, { raw }) as FastifyRequest).files()
}

/**
 * The body of a form on its way to the parser, which works through whatever it is given without a pause: a chunk of
 * 64 KB may hold a thousand parts. It arrives in slices of a few parts, with turns for others between them, and fails
 * with `body_too_large` when it has too many. Ends early when `request` does.
 */
function openFormStream(request: IncomingMessage): FormStream {
  const form = new FormStream(request.headers['content-type'] ?? '')
  request.once('close', () => {
    if (!request.readableEnded) form.destroy(new Error('the form ended early'))
  })
  return request.pipe(form)
}

/** Counts the lines that begin parts. */
export class FormStream extends Transform {
  /** All that the parser has to know: it writes them into the log at level `trace`. */
  readonly headers: { 'content-type': string }
  readonly #delimiter: Buffer | undefined
  #parts = 0

  constructor(contentType: string) {
    super()
    this.headers = { 'content-type': contentType }
    const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
    const boundary = quoted ?? plain
    // A form without one is refused by the parser.
    this.#delimiter = boundary === undefined ? undefined : Buffer.from(`--${boundary}`, 'latin1')
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const end = this.#findEnd(chunk)
    if (end === undefined) {
      done(new AppError('body_too_large', `the form has more than ${MAX_PARTS} parts`))
    } else if (end === chunk.length) {
      done(null, chunk)
    } else {
      this.push(chunk.subarray(0, end))
      setImmediate(() => this._transform(chunk.subarray(end), 'binary', done))
    }
  }

  /** Where a slice of a few parts ends; undefined when the form has too many. */
  #findEnd(chunk: Buffer): number | undefined {
    const delimiter = this.#delimiter
    let at = delimiter ? chunk.indexOf(delimiter) : -1
    for (let found = 0; at >= 0; found++) {
      if (found === PARTS_AT_ONCE) return at
      // The last of these lines ends the form.
      if (++this.#parts > MAX_PARTS + 1) return undefined
      at = chunk.indexOf(delimiter!, at + 1)
    }
    return chunk.length
  }
}
