import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../../errors.ts'
import { storageError, throwStorageError } from '../../database/sqlite/storage-error.ts'
import { checkedSource } from '../checked-source.ts'
import type { Objects } from '../objects.ts'
import {
  CHUNK,
  contentSize,
  DamagedFile,
  decryptChunks,
  splitHead,
  TAG,
} from './encrypted-chunks.ts'
import {
  encryptObject,
  HEADER_BYTES,
  keyOfObject,
  type ObjectHeader,
  readHeader,
} from './object-header.ts'
import type { ObjectKeys } from './object-keys.ts'

/** How objects are encrypted. */
export type EncryptedOptions = {
  keys: ObjectKeys
  /** Where decrypted files lie while programs use them. */
  folder: string
  /** The process that makes those files. */
  owner: string
}

/**
 * Encrypts what is written to `stored`, and decrypts what is read from it. Sizes are those of the
 * content. Objects that were stored before, without encryption, are read as they are.
 */
export function encryptObjects(
  stored: Objects,
  { keys, folder, owner }: EncryptedOptions,
): Objects {
  async function readWhole(id: string): Promise<{ size: number; body: Readable }> {
    const { size, body } = await stored.read(id)
    try {
      const { head, rest } = await splitHead(body, HEADER_BYTES)
      const header = readHeader(head)
      const content = header
        ? decryptChunks(keyOfObject(keys, header, id), rest)
        : joined(head, rest)
      const own = header ? contentSize(size - HEADER_BYTES) : size
      return { size: own, body: toReadable(content, body) }
    } catch (error) {
      body.destroy()
      throw error
    }
  }

  async function readRange(id: string, range: { start: number; end: number }) {
    const { size: total, header } = await examine(stored, id)
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

  return {
    ...stored,
    async write(id, source, options) {
      let size = 0
      async function* counted() {
        for await (const bytes of checkedSource(source, options)) {
          size += bytes.byteLength
          yield bytes
        }
      }
      const encrypted = encryptObject(keys.current, id, counted())
      const { admit: _, ...others } = options
      await stored.write(id, encrypted, { ...others, maxBytes: Number.POSITIVE_INFINITY })
      return { size }
    },
    async adopt(id, file, options) {
      const { signal } = new AbortController()
      const encrypted = encryptObject(keys.current, id, readFrom(file))
      const limits = { maxBytes: Number.POSITIVE_INFINITY, signal }
      await stored.write(id, encrypted, { ...options, ...limits }).catch(throwStorageError)
    },
    async replace(id, source, options) {
      await stored.replace(id, encryptObject(keys.current, id, source), options)
    },
    async materialize(id, { signal }) {
      const { header } = await examine(stored, id)
      if (!header) return stored.materialize(id, { signal })
      await using local = await stored.materialize(id, { signal })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${owner}.${randomUUID()}`)
      const remove = () => rm(path, { force: true })
      try {
        const source = readFrom(local.path, { start: HEADER_BYTES })
        await using handle = await open(path, 'wx', 0o600)
        for await (const bytes of decryptChunks(keyOfObject(keys, header, id), source)) {
          signal.throwIfAborted()
          await handle.appendFile(bytes)
        }
      } catch (error) {
        await remove()
        throw readError(error)
      }
      return { path, [Symbol.asyncDispose]: remove }
    },
    async check(id) {
      const { storedAt, size, header } = await examine(stored, id)
      return { storedAt, size: header ? contentSize(size - HEADER_BYTES) : size }
    },
    read: (id, range) => (range ? readRange(id, range) : readWhole(id)),
    async removeUnfinished(living) {
      await stored.removeUnfinished(living)
      for (const name of await readdir(folder).catch(() => [])) {
        const isUsed = [...living.owners, owner].some((one) => name.startsWith(`${one}.`))
        if (!isUsed) await rm(join(folder, name), { force: true })
      }
    },
  }
}

/** Returns the id of the key that a stored object is encrypted with; undefined if it is not. */
export async function keyIdOf(stored: Objects, id: string): Promise<string | undefined> {
  return (await examine(stored, id)).header?.keyId
}

type Examined = { header: ObjectHeader | undefined; size: number; storedAt: number }

/** Returns how an object is encrypted, undefined if it is not, and the bytes that it takes. */
async function examine(stored: Objects, id: string): Promise<Examined> {
  const found = await stored.check(id)
  // An empty object has no range to read.
  if (found.size < HEADER_BYTES) return { ...found, header: undefined }
  const { body } = await stored.read(id, { start: 0, end: HEADER_BYTES - 1 })
  return { ...found, header: readHeader(await buffer(body)) }
}

/** Reads a file, which is opened when the first bytes are requested. */
async function* readFrom(
  path: string,
  options: { start?: number } = {},
): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, options)
}

async function* joined(
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

/** Makes a stream of content; destroying it also ends the one that the content is read from. */
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
  if (!(error instanceof DamagedFile)) return storageError(error)
  return new AppError('storage_unreadable', `the object cannot be decrypted: ${error.message}`)
}
