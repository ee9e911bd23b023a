import { hkdfSync, randomBytes } from 'node:crypto'
import { AppError } from '../../../errors.ts'
import { encryptChunks } from './encrypted-chunks.ts'
import type { ObjectKey, ObjectKeys } from './object-keys.ts'

/**
 * The first bytes of an encrypted object, whose last digit is the version of the format. The id of
 * the key follows, and then the salt from which the key of this object is derived.
 */
const MAGIC = Buffer.from('\x89stenoe1', 'latin1')
const ID_BYTES = 8
const SALT_BYTES = 32

/** The length of the header. */
export const HEADER_BYTES = MAGIC.length + ID_BYTES + SALT_BYTES

/** The id of the key and the salt of an object. */
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

/** Returns the key of one object; fails with `storage_unreadable` if its secret is missing. */
export function keyOfObject(
  keys: ObjectKeys,
  { keyId, salt }: ObjectHeader,
  objectId: string,
): Uint8Array {
  const key = keys.find(keyId)
  if (!key) throw new AppError('storage_unreadable', `the key ${keyId} of the object is missing`)
  return deriveObjectKey(key.secret, salt, objectId)
}

/** An object can be decrypted only with its own id, so no other object can replace it. */
function deriveObjectKey(secret: Uint8Array, salt: Uint8Array, objectId: string): Uint8Array {
  return Buffer.from(hkdfSync('sha256', secret, salt, `steno object ${objectId}`, 32))
}
