import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { receiveScheduler } from '../../storage/objects/receive-scheduler.ts'

/** Large chunks, because each one waits for its turn to be written. */
const decoderOptions = { chunkSize: 64 * 1024 }

/** Decoders of the content codings of RFC 9110, section 8.4.1, and Brotli. */
const decoders: Readonly<Record<string, (start: Uint8Array) => Transform>> = {
  gzip: () => createGunzip(decoderOptions),
  'x-gzip': () => createGunzip(decoderOptions),
  deflate: (start) => {
    return hasZlibHeader(start) ? createInflate(decoderOptions) : createInflateRaw(decoderOptions)
  },
  br: () => createBrotliDecompress(decoderOptions),
}

/** Returns whether `decodeBody` knows a content coding. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(decoders, encoding)
}

/**
 * The content coding of a body, the account that it is fetched for, and the maximum of compressed
 * bytes.
 */
export type DecodeOptions = { encoding: string; account: string; maxBytes: number }

/**
 * Decompresses a body whose source compressed it although the request asked for no compression. The
 * consumer must limit the decompressed size, which the compressed size does not bound. Throws
 * `media_undecodable` if the data is damaged, `media_too_large` above `maxBytes`.
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
  // An error of the body also ends the decoder, whose consumer below throws it.
  pipeline(Readable.from(compressed), decoder).catch(() => {})
  try {
    for await (const bytes of decoder as AsyncIterable<Uint8Array>) {
      await receiveScheduler.next(account)
      yield bytes
    }
  } catch (cause) {
    if (!isDecoderError(cause)) throw cause
    const detail = `the source sent damaged data, compressed as ${encoding}`
    throw new AppError('media_undecodable', detail, { cause })
  }
}

/**
 * Some old servers send the coding `deflate` without the zlib header that RFC 9110 demands. The low
 * four bits of its first byte are 8, the method. A raw stream begins so only if an encoder pads a
 * stored block with a one.
 */
function hasZlibHeader(start: Uint8Array): boolean {
  return (start[0]! & 0x0f) === 8
}

/** Limits the compressed bytes: an endless body may expand to nothing. */
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
