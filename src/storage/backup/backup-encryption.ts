import { createHash, createHmac, type Hash, type Hmac, hkdfSync, randomBytes } from 'node:crypto'
import {
  DamagedFileError,
  decryptChunks,
  encryptChunks,
  encryptedSize,
  splitHead,
} from '../objects/encryption/encrypted-chunks.ts'

/** Encrypts, decrypts and fingerprints the files of a backup. */
export type BackupEncryption = {
  readonly isEncrypted: boolean
  /** Encrypts content for storage under a name; it can be decrypted only with that name. */
  encrypt(name: string, content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /**
   * Decrypts what `encrypt` returned; fails with `DamagedFileError` unless it is complete and
   * unchanged.
   */
  decrypt(name: string, stored: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Returns the stored size of content of this size, in bytes. */
  storedSize(size: number): number
  /** Creates a fingerprint of content; that of encrypted content reveals nothing about it. */
  digest(): Hash | Hmac
}

const HASH = 'sha256'
const SALT_BYTES = 32

/** Leaves the files of a backup as they are. */
export const noEncryption: BackupEncryption = {
  isEncrypted: false,
  encrypt: (_name, content) => content,
  decrypt: (_name, stored) => stored,
  storedSize: (size) => size,
  digest: () => createHash(HASH),
}

/**
 * Encrypts each file with a key of its own, derived from the secret, random bytes at its start and
 * its name, in chunks of 64 KiB whose nonces count them and mark the last one.
 */
export function encryptWith(secret: Uint8Array): BackupEncryption {
  const digestKey = deriveBackupKey(secret, Buffer.alloc(SALT_BYTES), 'digest')
  return {
    isEncrypted: true,
    encrypt: (name, content) => encryptContent(secret, name, content),
    decrypt: (name, stored) => decryptContent(secret, name, stored),
    storedSize: (size) => SALT_BYTES + encryptedSize(size),
    digest: () => createHmac(HASH, digestKey),
  }
}

/** Derives a key of 32 bytes for one purpose. */
export function deriveBackupKey(secret: Uint8Array, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync(HASH, secret, salt, `steno backup ${purpose}`, 32))
}

async function* encryptContent(
  secret: Uint8Array,
  name: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(SALT_BYTES)
  yield salt
  yield* encryptChunks(deriveBackupKey(secret, salt, `file ${name}`), content)
}

async function* decryptContent(
  secret: Uint8Array,
  name: string,
  stored: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { head: salt, rest, close } = await splitHead(stored, SALT_BYTES)
  try {
    if (salt.length < SALT_BYTES) throw new DamagedFileError('it is truncated')
    yield* decryptChunks(deriveBackupKey(secret, salt, `file ${name}`), rest)
  } finally {
    await close()
  }
}
