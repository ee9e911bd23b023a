import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { AppError } from '../../../../src/errors.ts'
import {
  isObjectId,
  LIST_SIZE,
  type ObjectStore,
  type WriteOptions,
} from '../../../../src/storage/objects/object-store.ts'

/**
 * Returns objects that are in memory only, as far from a file as those of a remote store. A
 * materialized object is a copy in `folder`, which is removed when it is disposed of.
 */
export function createMemoryObjects(folder: string): ObjectStore {
  const objects = new Map<string, { bytes: Buffer; storedAt: number }>()

  function findStored(id: string) {
    const stored = objects.get(id)
    if (!stored) throw new AppError('file_not_found')
    return stored
  }

  function find(id: string): Buffer {
    return findStored(id).bytes
  }

  function store(id: string, bytes: Buffer): void {
    if (!isObjectId(id)) throw new AppError('file_not_found', 'the id is not a UUID')
    objects.set(id, { bytes, storedAt: Date.now() })
  }

  return {
    async write(id, source, options) {
      const bytes = await collect(source, options)
      store(id, bytes)
      return { size: bytes.length }
    },
    async replace(id, source, { signal }) {
      find(id)
      store(id, await collect(source, { maxBytes: Number.POSITIVE_INFINITY, signal }))
    },
    async adopt(id, file) {
      const bytes = await readFile(file).catch((cause) => {
        throw new AppError('file_not_found', undefined, { cause })
      })
      store(id, bytes)
    },
    async openLocalCopy(id) {
      const path = join(folder, randomUUID())
      await writeFile(path, find(id))
      return { path, [Symbol.asyncDispose]: () => rm(path) }
    },
    check: async (id) => ({ size: find(id).length, storedAt: findStored(id).storedAt }),
    async read(id, range) {
      const bytes = find(id)
      const part = range ? bytes.subarray(range.start, range.end + 1) : bytes
      return { size: bytes.length, body: Readable.from([part], { objectMode: false }) }
    },
    async delete(id) {
      objects.delete(id)
    },
    removeUnfinished: async () => {},
    async *list() {
      const ids = [...objects.keys()]
      for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
    },
  }
}

async function collect(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, signal, reserve }: WriteOptions,
): Promise<Buffer> {
  const stop = () => source instanceof Readable && source.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of source) {
      signal.throwIfAborted()
      size += part.byteLength
      if (size > maxBytes) throw new AppError('media_too_large')
      await reserve?.(part.byteLength)
      parts.push(Buffer.from(part))
    }
    signal.throwIfAborted()
    return Buffer.concat(parts)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
