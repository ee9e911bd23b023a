import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { createMemoryObjects } from '../../../../test/support/storage/objects/memory-objects.ts'
import {
  bytesOf,
  testObjects,
} from '../../../../test/support/storage/objects/objects-conformance.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { openDiskObjects } from '../disk/disk-objects.ts'
import type { ObjectStore } from '../object-store.ts'
import { keyIdOf } from './decrypt-object.ts'
import { withEncryption } from './encrypted-objects.ts'
import { parseObjectKeys } from './object-keys.ts'

const CHUNK = 64 * 1024
const { signal } = new AbortController()
const limits = { maxBytes: 1e9, signal }
const nodeId = 'me'

const newKey = () => randomBytes(32).toString('base64')
const keysOf = (...lines: string[]) => parseObjectKeys(lines.join('\n'), 'the file')
const key = newKey()

/** Returns encrypted objects, what they are stored in, and the folder of decrypted files. */
async function openBoth(t: TestContext, lines = [key]) {
  const stored = createMemoryObjects(await makeFolder(t))
  const folder = join(await makeFolder(t), 'decrypted')
  const objects = withEncryption(stored, { keys: keysOf(...lines), folder, nodeId })
  return { stored, objects, folder }
}

async function write(objects: ObjectStore, content: Buffer): Promise<string> {
  const id = randomUUID()
  await objects.write(id, Readable.from([content]), limits)
  return id
}

const contentOf = async (objects: ObjectStore, id: string) => buffer((await objects.read(id)).body)

testObjects('encrypted objects in memory', async (t) => (await openBoth(t)).objects)
testObjects('encrypted objects on disk', async (t) => {
  const stored = await openDiskObjects(await makeFolder(t))
  return withEncryption(stored, { keys: keysOf(key), folder: await makeFolder(t), nodeId })
})

test('any size and range is read as it was written', async (t) => {
  const { objects } = await openBoth(t)
  for (const size of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5]) {
    const content = randomBytes(size)
    const id = await write(objects, content)
    assert.deepEqual(await contentOf(objects, id), content)
    assert.equal((await objects.check(id)).size, size)
    for (const start of [0, 1, CHUNK - 1, CHUNK, size - 1]) {
      for (const end of [start, start + CHUNK, CHUNK * 2 - 1, size - 1, size + 10]) {
        if (start < 0 || start >= size || end < start) continue
        const part = await objects.read(id, { start, end })
        assert.equal(part.size, size)
        const bytes = await buffer(part.body)
        assert.deepEqual(bytes, content.subarray(start, end + 1), `${size} ${start} ${end}`)
      }
    }
  }
})

test('stored objects reveal no content and decrypt only under their own id', async (t) => {
  const { objects, stored } = await openBoth(t)
  const content = Buffer.from('secret words '.repeat(100))
  const id = await write(objects, content)
  const raw = await contentOf(stored, id)
  assert.equal(raw.includes('secret'), false)
  const other = randomUUID()
  await stored.write(other, Readable.from([raw]), limits)
  await assert.rejects(contentOf(objects, other), { code: 'storage_unreadable' })
})

test('a changed or truncated object cannot be read, in whole or in part', async (t) => {
  const { objects, stored } = await openBoth(t)
  const id = await write(objects, randomBytes(2 * CHUNK))
  const raw = await contentOf(stored, id)
  const changed = Buffer.from(raw)
  changed[CHUNK]! ^= 1
  const unreadable = { code: 'storage_unreadable' }
  for (const bytes of [changed, raw.subarray(0, -1), raw.subarray(0, CHUNK + 64)]) {
    await stored.write(id, Readable.from([bytes]), limits)
    await assert.rejects(contentOf(objects, id), unreadable)
    await assert.rejects(objects.openLocalCopy(id, { signal }), unreadable)
  }
  await stored.write(id, Readable.from([changed]), limits)
  const { body } = await objects.read(id, { start: 10, end: 20 })
  await assert.rejects(buffer(body), unreadable)
})

test('unencrypted objects are read unchanged', async (t) => {
  const { objects, stored, folder } = await openBoth(t)
  for (const content of [Buffer.alloc(0), Buffer.from('short'), randomBytes(CHUNK)]) {
    const id = await write(stored, content)
    assert.deepEqual(await contentOf(objects, id), content)
    assert.equal((await objects.check(id)).size, content.length)
    await using file = await objects.openLocalCopy(id, { signal })
    assert.equal(file.path.startsWith(folder), false)
  }
})

test('an older key decrypts its objects, and without it they are unreadable', async (t) => {
  const { objects, stored, folder } = await openBoth(t)
  const id = await write(objects, Buffer.from('old'))
  const next = newKey()
  const both = withEncryption(stored, { keys: keysOf(next, key), folder, nodeId })
  assert.deepEqual(await contentOf(both, id), Buffer.from('old'))
  await both.replace(id, bytesOf('old'), { signal })
  assert.equal(await keyIdOf(stored, id), keysOf(next).current.id)
  await assert.rejects(contentOf(objects, id), { code: 'storage_unreadable' })
})

test('a decrypted file is deleted after use, or at the start if its process is gone', async (t) => {
  const { objects, stored, folder } = await openBoth(t)
  const id = await write(objects, Buffer.from('x'))
  const keys = keysOf(key)
  const dead = withEncryption(stored, { keys, folder, nodeId: 'dead' })
  const left = await dead.openLocalCopy(id, { signal })
  {
    await using _ = await objects.openLocalCopy(id, { signal })
    assert.equal((await readdir(folder)).length, 2)
    await objects.removeUnfinished({ ids: ['me'], since: 0 })
    assert.equal((await readdir(folder)).length, 1)
  }
  assert.deepEqual(await readdir(folder), [])
  await left[Symbol.asyncDispose]()
})
