import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'
import { type BackupEncryption, encryptWith, noEncryption } from './backup-encryption.ts'

const encryption = encryptWith(Buffer.alloc(32, 7))
const CHUNK = 64 * 1024

/** Yields bytes in parts of uneven sizes. */
async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0, size = 1; from < bytes.length; from += size, size = size * 3 + 1) {
    yield bytes.subarray(from, from + size)
  }
}

function close(content: Uint8Array, by: BackupEncryption = encryption): Promise<Buffer> {
  return buffer(by.encrypt('name', inParts(content)))
}

function open(stored: Uint8Array, { name = 'name', by = encryption } = {}): Promise<Buffer> {
  return buffer(by.decrypt(name, inParts(stored)))
}

test('encrypted content of any size round-trips with the predicted size', async () => {
  for (const size of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 200_001]) {
    const content = randomBytes(size)
    for (const by of [encryption, noEncryption]) {
      const stored = await close(content, by)
      assert.equal(stored.length, by.storedSize(size))
      assert.deepEqual(await open(stored, { by }), content)
    }
  }
})

test('the same content is never stored as the same bytes', async () => {
  const content = Buffer.alloc(100)
  assert.notDeepEqual(await close(content), await close(content))
  assert.notEqual(encryption.digest().digest('hex'), noEncryption.digest().digest('hex'))
})

test('a changed, truncated, moved or foreign file cannot be opened', async () => {
  const stored = await close(randomBytes(2 * CHUNK + 10))
  for (const at of [0, 31, 32, CHUNK, stored.length - 1]) {
    const changed = Buffer.from(stored)
    changed[at]! ^= 1
    await assert.rejects(open(changed), DamagedFileError, `byte ${at}`)
  }
  const chunk = 32 + CHUNK + 16
  for (const length of [0, 31, 32, 40, chunk, chunk + CHUNK + 16, stored.length - 1]) {
    await assert.rejects(open(stored.subarray(0, length)), DamagedFileError, `${length} bytes`)
  }
  await assert.rejects(open(Buffer.concat([stored, stored])), DamagedFileError)
  await assert.rejects(open(stored, { name: 'other' }), DamagedFileError)
  await assert.rejects(open(stored, { by: encryptWith(Buffer.alloc(32, 8)) }), DamagedFileError)
})
