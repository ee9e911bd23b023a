import { hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../../../errors.ts'
import { encryptChunks } from './encrypted-chunks.ts'
import type { ObjectKey, ObjectKeys } from './object-keys.ts'

/**
 * What an encrypted object begins with: these bytes, the id of the key, and the salt from which the
 * key of this one object is made. The number at the end is the version of the format.
 */
const MAGIC = Buffer.from('\x89stenoe1', 'latin1')
const ID_BYTES = 8
const SALT_BYTES = 32

/** Bytes of the header. */
export const HEADER_BYTES = MAGIC.length + ID_BYTES + SALT_BYTES

/** How an object was encrypted. */
export type ObjectHeader = { keyId: string; salt: Uint8Array }

/** Reads the first bytes of an object; undefined if it is not encrypted. */
export function readHeader(bytes: Uint8Array): ObjectHeader | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (head.length < HEADER_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const keyId = head.toString('hex', MAGIC.length, MAGIC.length + ID_BYTES)
  return { keyId, salt: Buffer.from(head.subarray(MAGIC.length + ID_BYTES, HEADER_BYTES)) }
}

/** Encrypts the bytes of an object: the header, then chunks. */
export async function* encryptObject(
  { id: keyId, secret }: ObjectKey,
  objectId: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(SALT_BYTES)
  yield Buffer.concat([MAGIC, Buffer.from(keyId, 'hex'), salt])
  yield* encryptChunks(deriveObjectKey(secret, salt, objectId), content)
}

/** Returns the key of one object; fails with `storage_unreadable` if its secret is not there. */
export function keyOfObject(
  keys: ObjectKeys,
  { keyId, salt }: ObjectHeader,
  objectId: string,
): Uint8Array {
  const key = keys.find(keyId)
  if (!key) throw new AppError('storage_unreadable', `the key ${keyId} of the object is missing`)
  return deriveObjectKey(key.secret, salt, objectId)
}

/** An object decrypts only under its own id, so no other object can replace it. */
function deriveObjectKey(secret: Uint8Array, salt: Uint8Array, objectId: string): Uint8Array {
  return Buffer.from(hkdfSync('sha256', secret, salt, `steno object ${objectId}`, 32))
}
