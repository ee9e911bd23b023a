import type { IncomingMessage } from 'node:http'
import { Transform, type TransformCallback } from 'node:stream'
import type { FastifyMultipartBaseOptions, MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../../../errors.ts'
import { receiveScheduler } from '../../../../storage/objects/receive-scheduler.ts'

/**
 * Maximum parts of a form. Browsers and SDKs send a few fields with the file; each part costs as
 * much as a small request.
 */
export const MAX_PARTS = 500

/** How many parts the form parser gets at once; it takes a tenth of a millisecond for each. */
const PARTS_PER_SLICE = 20

/**
 * Maximum header lines of a part, which need to name only a field, a file and a type. The parser
 * drops the others.
 */
const MAX_HEADER_LINES = 50
const MAX_HEADER_BYTES = 16 * 1024

/**
 * How forms are parsed. The parser does not limit the file, because the store counts its bytes.
 * Every other part is read like a file.
 */
export const formOptions: FastifyMultipartBaseOptions = {
  limits: {
    fileSize: Number.POSITIVE_INFINITY,
    parts: MAX_PARTS,
    headerPairs: MAX_HEADER_LINES,
    // The declared type of the options lacks this one.
    ...{ headerSize: MAX_HEADER_BYTES },
  },
  isPartAFile: () => true,
}

/** Yields the parts of a form, as they arrive. */
export function readParts(request: FastifyRequest): AsyncIterable<MultipartFile> {
  const raw = { value: openFormStream(request.raw, () => receiveScheduler.next(request.account)) }
  return (Object.create(request, { raw }) as FastifyRequest).files()
}

/**
 * Returns the body of a form for the parser, which would process any chunk at once: a chunk of 64
 * KB may contain a thousand parts. The stream delivers slices of a few parts, each when
 * `waitForTurn` resolves. It fails with `body_too_large` if there are too many parts, and ends
 * early if `request` does.
 */
function openFormStream(request: IncomingMessage, waitForTurn: () => Promise<void>): FormStream {
  const form = new FormStream(request.headers['content-type'] ?? '', waitForTurn)
  request.once('close', () => {
    if (!request.readableEnded) form.destroy(new Error('the form ended early'))
  })
  return request.pipe(form)
}

/** Delivers a form in slices of a few parts, and limits the number of its parts. */
export class FormStream extends Transform {
  /** The parser needs only this header: it logs all headers at level `trace`. */
  readonly headers: { 'content-type': string }
  readonly #delimiter: Buffer | undefined
  readonly #waitForTurn: () => Promise<void>
  #partCount = 0

  /** `waitForTurn` resolves when the next slice may be delivered. */
  constructor(contentType: string, waitForTurn: () => Promise<void>) {
    super()
    this.#waitForTurn = waitForTurn
    this.headers = { 'content-type': contentType }
    const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
    const boundary = quoted ?? plain
    // The parser refuses a form without a boundary.
    this.#delimiter = boundary === undefined ? undefined : Buffer.from(`--${boundary}`, 'latin1')
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    void this.#waitForTurn().then(() => this.#forward(chunk, callback))
  }

  #forward(chunk: Buffer, callback: TransformCallback): void {
    const end = this.#findEnd(chunk)
    if (end === undefined) {
      callback(new AppError('body_too_large', `the form has more than ${MAX_PARTS} parts`))
    } else if (end === chunk.length) {
      callback(null, chunk)
    } else {
      this.push(chunk.subarray(0, end))
      this._transform(chunk.subarray(end), 'binary', callback)
    }
  }

  /** Returns the end of a slice of a few parts; undefined when the form has too many. */
  #findEnd(chunk: Buffer): number | undefined {
    const delimiter = this.#delimiter
    let at = delimiter ? chunk.indexOf(delimiter) : -1
    for (let partCount = 0; at >= 0; partCount++) {
      if (partCount === PARTS_PER_SLICE) return at
      // The last delimiter ends the form.
      if (++this.#partCount > MAX_PARTS + 1) return undefined
      at = chunk.indexOf(delimiter!, at + 1)
    }
    return chunk.length
  }
}
