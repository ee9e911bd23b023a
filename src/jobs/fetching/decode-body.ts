import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { writeScheduler } from '../../storage/objects/write-scheduler.ts'

/** Large parts: each one waits for its turn to be written. */
const options = { chunkSize: 64 * 1024 }

/** The content codings of RFC 9110, section 8.4.1, and Brotli. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(options),
  'x-gzip': () => createGunzip(options),
  deflate: () => createInflate(options),
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
  const decoder = createDecoder()
  // Whatever ends the body also ends the decoder, which is read below.
  pipeline(Readable.from(limitBytes(body, maxBytes)), decoder).catch(() => {})
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

/** Limits compressed bytes, too: they may expand to nothing, for ever. */
async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
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
