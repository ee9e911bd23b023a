import type { Db } from '../../database/db.ts'
import type { ObjectStore } from '../object-store.ts'
import { findKnownObjects } from '../orphans/known-objects.ts'
import { keyIdOf } from './decrypt-object.ts'
import { withEncryption } from './encrypted-objects.ts'
import type { ObjectKeys } from './object-keys.ts'
import { deleteOtherKeyIds, recordObjectKeys } from './used-keys.ts'

/** The store whose objects must be encrypted with the current key. */
export type EncryptStoreOptions = {
  db: Pick<Db, 'sql'>
  /** The objects as they are stored, without decryption. */
  stored: ObjectStore
  keys: ObjectKeys
  /** Called with the number of checked objects, and their total. */
  onProgress?(done: number, total: number): void
  signal: AbortSignal
}

/** How many objects were encrypted again, and how many there are. */
export type EncryptOutcome = { encrypted: number; total: number }

/**
 * Encrypts with the current key all objects that rows refer to and that are not encrypted or have
 * another key, which must still be available. Servers may run, if all of them were started with the
 * current key. After an interruption it continues. When it is done, servers start without the other
 * keys.
 */
export async function encryptStore(options: EncryptStoreOptions): Promise<EncryptOutcome> {
  const { db, stored, keys, onProgress, signal } = options
  await recordObjectKeys(db, keys)
  const all = (await Array.fromAsync(stored.list())).flat()
  const objects = withEncryption(stored, { keys, folder: '', nodeId: '' })
  let encrypted = 0
  for (const [done, id] of all.entries()) {
    signal.throwIfAborted()
    onProgress?.(done, all.length)
    if (!(await isKnown(db, id)) || (await isEncryptedWithCurrentKey(options, id))) continue
    try {
      const { body } = await objects.read(id)
      await objects.replace(id, body, { signal })
      encrypted++
    } catch (error) {
      // A server has deleted the object in the meantime.
      if ((error as { code?: unknown }).code !== 'file_not_found') throw error
    }
    if (!(await isKnown(db, id))) await stored.delete(id)
  }
  onProgress?.(all.length, all.length)
  await deleteOtherKeyIds(db, keys.current.id)
  return { encrypted, total: all.length }
}

async function isKnown(db: Pick<Db, 'sql'>, id: string): Promise<boolean> {
  return (await findKnownObjects(db, [id])).has(id)
}

async function isEncryptedWithCurrentKey(
  { stored, keys }: EncryptStoreOptions,
  id: string,
): Promise<boolean> {
  try {
    return (await keyIdOf(stored, id)) === keys.current.id
  } catch (error) {
    if ((error as { code?: unknown }).code === 'file_not_found') return true
    throw error
  }
}
