import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { writeScheduler } from '../../storage/objects/write-scheduler.ts'

/** Large parts: each one waits for its turn to be written. */
const options = { chunkSize: 64 * 1024 }

/** The content codings of RFC 9110, section 8.4.1, and Brotli. */
const decoders: Readonly<Record<string, (start: Uint8Array) => Transform>> = {
  gzip: () => createGunzip(options),
  'x-gzip': () => createGunzip(options),
  deflate: (start) => (hasZlibHeader(start) ? createInflate(options) : createInflateRaw(options)),
  br: () => createBrotliDecompress(options),
}

/** Returns whether `decodeBody` knows a content coding. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(decoders, encoding)
}

/** How a body is compressed, for whom it is decompressed, and the most compressed bytes of it. */
export type DecodeOptions = { encoding: string; account: string; maxBytes: number }

/**
 * Decompresses a body whose source compressed it although the request asked for none. The reader
 * limits the decompressed size: a compressed body could expand to any.
 */
export async function* decodeBody(
  body: AsyncIterable<Uint8Array>,
  { encoding, account, maxBytes }: DecodeOptions,
): AsyncGenerator<Uint8Array> {
  const createDecoder = decoders[encoding]
  if (!createDecoder) return yield* body
  const compressed = limitBytes(body, maxBytes)
  const { value: start = new Uint8Array() } = await compressed.next()
  const decoder = createDecoder(start)
  decoder.write(start)
  // Whatever ends the body also ends the decoder, which is read below.
  pipeline(Readable.from(compressed), decoder).catch(() => {})
  try {
    for await (const bytes of decoder as AsyncIterable<Uint8Array>) {
      await writeScheduler.next(account)
      yield bytes
    }
  } catch (cause) {
    if (!isDecoderError(cause)) throw cause
    const detail = `the source sent damaged data, compressed as ${encoding}`
    throw new AppError('media_undecodable', detail, { cause })
  }
}

/**
 * Some old servers send the coding `deflate` without the zlib header that RFC 9110 demands. Its
 * first byte ends in 8, the method; a raw stream that starts so pads a stored block with a one.
 */
function hasZlibHeader(start: Uint8Array): boolean {
  return (start[0]! & 0x0f) === 8
}

/** Limits compressed bytes, too: they may expand to nothing, for ever. */
async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, undefined> {
  let received = 0
  for await (const bytes of body) {
    received += bytes.byteLength
    if (received > maxBytes) {
      const detail = `more than ${maxBytes} bytes, compressed (STENO_MAX_FILE_BYTES)`
      throw new AppError('media_too_large', detail)
    }
    yield bytes
  }
}

function isDecoderError(error: unknown): boolean {
  return /^(Z_|ERR_BROTLI|ERR__ERROR)/.test(String((error as { code?: unknown }).code))
}
