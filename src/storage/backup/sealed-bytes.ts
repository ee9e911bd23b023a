import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  type Hash,
  type Hmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

/** How a backup writes and reads its files, and what it compares their content by. */
export type Seal = {
  readonly isEncrypted: boolean
  /** Turns content into what is stored under a name; only that name opens it again. */
  close(name: string, content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Reverses `close`; fails with `DamagedFile` unless all of it is there, unchanged. */
  open(name: string, stored: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** The stored size of content of this size, in bytes. */
  storedSize(size: number): number
  /** Starts a fingerprint of content, which reveals nothing about encrypted content. */
  digest(): Hash | Hmac
}

/** A file of a backup is not as it was written. */
export class DamagedFile extends Error {}

const CIPHER = 'aes-256-gcm'
const HASH = 'sha256'
/** Bytes of content that are encrypted together. */
const CHUNK = 64 * 1024
const SALT = 32
const TAG = 16
const NONCE = 12
/** The last byte of the nonce of the last chunk: content that is cut short cannot be opened. */
const LAST = 1

/** The files of a backup as they are. */
export const plain: Seal = {
  isEncrypted: false,
  close: (_name, content) => content,
  open: (_name, stored) => stored,
  storedSize: (size) => size,
  digest: () => createHash(HASH),
}

/**
 * Encrypts each file with a key of its own, derived from the secret, random bytes at its start and
 * its name, in chunks of 64 KiB whose nonces count them and mark the last one.
 */
export function sealWith(secret: Uint8Array): Seal {
  const digestKey = derive(secret, Buffer.alloc(SALT), 'digest')
  return {
    isEncrypted: true,
    close: (name, content) => encrypt(secret, name, content),
    open: (name, stored) => decrypt(secret, name, stored),
    storedSize: (size) => SALT + size + TAG * Math.max(1, Math.ceil(size / CHUNK)),
    digest: () => createHmac(HASH, digestKey),
  }
}

/** Derives 32 bytes for one purpose. */
export function derive(secret: Uint8Array, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync(HASH, secret, salt, `steno backup ${purpose}`, 32))
}

async function* encrypt(
  secret: Uint8Array,
  name: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(SALT)
  const key = derive(secret, salt, `file ${name}`)
  yield salt
  for await (const { bytes, index, isLast } of inChunks(content, CHUNK)) {
    const cipher = createCipheriv(CIPHER, key, nonceOf(index, isLast))
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

async function* decrypt(
  secret: Uint8Array,
  name: string,
  stored: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const source = stored[Symbol.asyncIterator]()
  try {
    let rest: Uint8Array = Buffer.alloc(0)
    while (rest.length < SALT) {
      const { value, done } = await source.next()
      if (done) throw new DamagedFile('it is cut short')
      rest = Buffer.concat([rest, value])
    }
    const key = derive(secret, rest.subarray(0, SALT), `file ${name}`)
    const first = rest.subarray(SALT)
    async function* behindSalt() {
      yield first
      yield* { [Symbol.asyncIterator]: () => source }
    }
    for await (const { bytes, index, isLast } of inChunks(behindSalt(), CHUNK + TAG)) {
      yield openChunk(bytes, key, nonceOf(index, isLast))
    }
  } finally {
    await source.return?.()
  }
}

function openChunk(bytes: Uint8Array, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (bytes.length < TAG) throw new DamagedFile('it is cut short')
  const decipher = createDecipheriv(CIPHER, key, nonce)
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()])
  } catch (cause) {
    throw new DamagedFile('its content was changed or is cut short', { cause })
  }
}

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE)
  nonce.writeUIntBE(index, NONCE - 7, 6)
  nonce[NONCE - 1] = isLast ? LAST : 0
  return nonce
}

type Chunk = { bytes: Uint8Array; index: number; isLast: boolean }

/** Yields content in chunks of `size` bytes, the last one shorter or as long; at least one. */
async function* inChunks(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Chunk> {
  let parts: Uint8Array[] = []
  let length = 0
  let index = 0
  for await (const part of content) {
    parts.push(part)
    length += part.length
    // One chunk is held back: only the end of the content shows which is the last.
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
