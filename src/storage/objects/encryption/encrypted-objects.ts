import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { throwStorageError } from '../../data-folder/storage-error.ts'
import { limitSize } from '../limit-size.ts'
import type { ObjectStore } from '../object-store.ts'
import { readLazily } from '../read-lazily.ts'
import { decryptFile, readObjectInfo, readRange, readWhole } from './decrypt-object.ts'
import { contentSize } from './encrypted-chunks.ts'
import { encryptObject, HEADER_BYTES, keyOfObject } from './object-header.ts'
import type { ObjectKeys } from './object-keys.ts'

/** How objects are encrypted. */
export type EncryptedOptions = {
  keys: ObjectKeys
  /** The folder of temporary decrypted copies, for programs that need a path. */
  folder: string
  /** The id of the process that writes these copies. */
  nodeId: string
}

/**
 * Encrypts objects that are written to `stored`, and decrypts objects that are read. Sizes are
 * those of the content. Older objects that are not encrypted are read unchanged.
 */
export function withEncryption(
  stored: ObjectStore,
  { keys, folder, nodeId }: EncryptedOptions,
): ObjectStore {
  const encryptedSource = { stored, keys }
  return {
    ...stored,
    async write(id, source, options) {
      let size = 0
      async function* counted() {
        for await (const bytes of limitSize(source, options)) {
          size += bytes.byteLength
          yield bytes
        }
      }
      const encrypted = encryptObject(keys.current, id, counted())
      const { reserve: _, ...others } = options
      await stored.write(id, encrypted, { ...others, maxBytes: Number.POSITIVE_INFINITY })
      return { size }
    },
    async adopt(id, file, options) {
      const { signal } = new AbortController()
      const encrypted = encryptObject(keys.current, id, readLazily(file))
      const limits = { maxBytes: Number.POSITIVE_INFINITY, signal }
      await stored.write(id, encrypted, { ...options, ...limits }).catch(throwStorageError)
    },
    async replace(id, source, options) {
      await stored.replace(id, encryptObject(keys.current, id, source), options)
    },
    async openLocalCopy(id, { signal }) {
      const { header } = await readObjectInfo(stored, id)
      if (!header) return stored.openLocalCopy(id, { signal })
      await using local = await stored.openLocalCopy(id, { signal })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${nodeId}.${randomUUID()}`)
      await decryptFile(local.path, path, { key: keyOfObject(keys, header, id), signal })
      return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) }
    },
    async check(id) {
      const { storedAt, size, header } = await readObjectInfo(stored, id)
      return { storedAt, size: header ? contentSize(size - HEADER_BYTES) : size }
    },
    read: (id, range) => {
      return range ? readRange(encryptedSource, id, range) : readWhole(encryptedSource, id)
    },
    async removeUnfinished(activeNodes) {
      await stored.removeUnfinished(activeNodes)
      for (const name of await readdir(folder).catch(() => [])) {
        const isUsed = [...activeNodes.ids, nodeId].some((id) => name.startsWith(`${id}.`))
        if (!isUsed) await rm(join(folder, name), { force: true })
      }
    },
  }
}
