import { createCipheriv, createDecipheriv } from 'node:crypto'

/** The error for encrypted content that differs from what was written. */
export class DamagedFileError extends Error {}

const CIPHER = 'aes-256-gcm'
/** Bytes of content that are encrypted together. */
export const CHUNK = 64 * 1024
/** Bytes of the tag after each encrypted chunk. */
export const TAG = 16
const NONCE = 12
/** The last byte of the nonce of the last chunk, so that truncated content cannot be decrypted. */
const LAST = 1

/** Returns the size of content after encryption. */
export function encryptedSize(size: number): number {
  return size + TAG * Math.max(1, Math.ceil(size / CHUNK))
}

/** Returns the size of content before encryption. */
export function contentSize(encrypted: number): number {
  return encrypted - TAG * Math.max(1, Math.ceil(encrypted / (CHUNK + TAG)))
}

/**
 * Encrypts content with AES-256-GCM in chunks of 64 KiB, whose nonces count them and mark the last
 * one. The key, of 32 bytes, must be used for no other content.
 */
export async function* encryptChunks(
  key: Uint8Array,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const { bytes, index, isLast } of plainChunks(content, CHUNK)) {
    const cipher = createCipheriv(CIPHER, key, nonceOf(index, isLast))
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

/** The chunks to decrypt: from the one with this number on; `toEnd`: including the last one. */
export type ChunkSpan = { first: number; toEnd: boolean }

/**
 * Decrypts what `encryptChunks` returned, completely or in part. Fails with `DamagedFileError`
 * unless the chunks are complete and unchanged.
 */
export async function* decryptChunks(
  key: Uint8Array,
  encrypted: AsyncIterable<Uint8Array>,
  { first, toEnd }: ChunkSpan = { first: 0, toEnd: true },
): AsyncGenerator<Uint8Array> {
  for await (const { bytes, index, isLast } of plainChunks(encrypted, CHUNK + TAG)) {
    yield openChunk(bytes, key, nonceOf(first + index, isLast && toEnd))
  }
}

/** A stream whose first bytes were read. The caller must read or close the rest. */
export type SplitStream = {
  head: Uint8Array
  rest: AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** Reads the first `size` bytes of a stream, fewer if it is shorter. */
export async function splitHead(
  stream: AsyncIterable<Uint8Array>,
  size: number,
): Promise<SplitStream> {
  const source = stream[Symbol.asyncIterator]()
  let read: Uint8Array = Buffer.alloc(0)
  while (read.length < size) {
    const { value, done } = await source.next()
    if (done) break
    read = Buffer.concat([read, value])
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    if (read.length > size) yield read.subarray(size)
    yield* { [Symbol.asyncIterator]: () => source }
  }
  const close = async () => void (await source.return?.())
  return { head: read.subarray(0, size), rest: rest(), close }
}

function openChunk(bytes: Uint8Array, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (bytes.length < TAG) throw new DamagedFileError('it is truncated')
  const decipher = createDecipheriv(CIPHER, key, nonce)
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()])
  } catch (cause) {
    throw new DamagedFileError('its content was changed or truncated', { cause })
  }
}

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE)
  nonce.writeUIntBE(index, NONCE - 7, 6)
  nonce[NONCE - 1] = isLast ? LAST : 0
  return nonce
}

type PlainChunk = { bytes: Uint8Array; index: number; isLast: boolean }

/**
 * Yields content in chunks of `size` bytes; the last one may be shorter. Yields at least one chunk.
 */
async function* plainChunks(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<PlainChunk> {
  let parts: Uint8Array[] = []
  let length = 0
  let index = 0
  for await (const part of content) {
    parts.push(part)
    length += part.length
    // One chunk is held back, because only the end of the content shows which one is the last.
    if (length <= size) continue
    const all = Buffer.concat(parts)
    let from = 0
    for (; all.length - from > size; from += size) {
      yield { bytes: all.subarray(from, from + size), index: index++, isLast: false }
    }
    parts = [all.subarray(from)]
    length = all.length - from
  }
  yield { bytes: Buffer.concat(parts), index, isLast: true }
}
