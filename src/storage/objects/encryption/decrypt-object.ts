import { open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../../errors.ts'
import { storageError } from '../../data-folder/storage-error.ts'
import type { ObjectStore } from '../object-store.ts'
import { readLazily } from '../read-lazily.ts'
import {
  CHUNK,
  contentSize,
  DamagedFileError,
  decryptChunks,
  splitHead,
  TAG,
} from './encrypted-chunks.ts'
import { HEADER_BYTES, keyOfObject, type ObjectHeader, readHeader } from './object-header.ts'
import type { ObjectKeys } from './object-keys.ts'

/** The store of the encrypted objects, and their keys. */
export type EncryptedSource = { stored: ObjectStore; keys: ObjectKeys }

/** Opens the content of an object, encrypted or not. `size` is that of the content. */
export async function readWhole(
  { stored, keys }: EncryptedSource,
  id: string,
): Promise<{ size: number; body: Readable }> {
  const { size, body } = await stored.read(id)
  try {
    const { head, rest } = await splitHead(body, HEADER_BYTES)
    const header = readHeader(head)
    const content = header
      ? decryptChunks(keyOfObject(keys, header, id), rest)
      : prepend(head, rest)
    const plainSize = header ? contentSize(size - HEADER_BYTES) : size
    return { size: plainSize, body: toReadable(content, body) }
  } catch (error) {
    body.destroy()
    throw error
  }
}

/** Opens a part of the content of an object. Both ends of `range` are inclusive. */
export async function readRange(
  { stored, keys }: EncryptedSource,
  id: string,
  range: { start: number; end: number },
): Promise<{ size: number; body: Readable }> {
  const { size: total, header } = await readObjectInfo(stored, id)
  if (!header) return stored.read(id, range)
  const size = contentSize(total - HEADER_BYTES)
  const end = Math.min(range.end, size - 1)
  const [first, last] = [Math.floor(range.start / CHUNK), Math.floor(end / CHUNK)]
  const toEnd = last === Math.floor((size - 1) / CHUNK)
  const { body } = await stored.read(id, {
    start: HEADER_BYTES + first * (CHUNK + TAG),
    end: Math.min(total, HEADER_BYTES + (last + 1) * (CHUNK + TAG)) - 1,
  })
  const chunks = decryptChunks(keyOfObject(keys, header, id), body, { first, toEnd })
  const part = slice(chunks, range.start - first * CHUNK, end - first * CHUNK + 1)
  return { size, body: toReadable(part, body) }
}

/** Writes the content of a stored file to the new file `target`, which is removed if that fails. */
export async function decryptFile(
  path: string,
  target: string,
  { key, signal }: { key: ReturnType<typeof keyOfObject>; signal: AbortSignal },
): Promise<void> {
  try {
    const source = readLazily(path, { start: HEADER_BYTES })
    await using handle = await open(target, 'wx', 0o600)
    for await (const bytes of decryptChunks(key, source)) {
      signal.throwIfAborted()
      await handle.appendFile(bytes)
    }
  } catch (error) {
    await rm(target, { force: true })
    throw readError(error)
  }
}

/** Returns the id of the key that a stored object is encrypted with; undefined if it is not. */
export async function keyIdOf(stored: ObjectStore, id: string): Promise<string | undefined> {
  return (await readObjectInfo(stored, id)).header?.keyId
}

/** How an object is encrypted, if it is, its size as stored, and when it was stored. */
export type EncryptedObjectInfo = {
  header: ObjectHeader | undefined
  size: number
  storedAt: number
}

/** Reads how an object is encrypted, if it is, and its size as stored. */
export async function readObjectInfo(
  stored: ObjectStore,
  id: string,
): Promise<EncryptedObjectInfo> {
  const objectInfo = await stored.check(id)
  // An empty object has no range to read.
  if (objectInfo.size < HEADER_BYTES) return { ...objectInfo, header: undefined }
  const { body } = await stored.read(id, { start: 0, end: HEADER_BYTES - 1 })
  return { ...objectInfo, header: readHeader(await buffer(body)) }
}

async function* prepend(
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  yield* rest
}

/** Yields the bytes from `start` up to `end`, which is not included. */
async function* slice(
  chunks: AsyncIterable<Uint8Array>,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const bytes of chunks) {
    const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
    if (part.length > 0) yield part
    at += bytes.length
  }
}

/** Returns a stream of content; destroying it also ends the stream that it reads from. */
function toReadable(content: AsyncGenerator<Uint8Array>, source: Readable): Readable {
  async function* readable() {
    try {
      yield* content
    } catch (error) {
      throw readError(error)
    }
  }
  const body = Readable.from(readable(), { objectMode: false })
  body.once('close', () => source.destroy())
  return body
}

function readError(error: unknown): unknown {
  if (!(error instanceof DamagedFileError)) return storageError(error)
  return new AppError('storage_unreadable', `the object cannot be decrypted: ${error.message}`)
}
