import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { ObjectStore } from '../../../../src/storage/objects/object-store.ts'
import { makeFolder } from '../test-storage.ts'

const { signal } = new AbortController()
const options = { maxBytes: 1000, signal }

export async function* bytesOf(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

async function list(objects: ObjectStore): Promise<string[]> {
  return (await Array.fromAsync(objects.list())).flat()
}

async function contentOf(objects: ObjectStore, id: string): Promise<string> {
  return text((await objects.read(id)).body)
}

/** Defines the tests that every implementation of `ObjectStore` passes. */
export function testObjects(name: string, open: (t: TestContext) => Promise<ObjectStore>): void {
  testReading(name, open)
  testWriting(name, open)
}

function testReading(name: string, open: (t: TestContext) => Promise<ObjectStore>): void {
  test(`${name}: an object is read whole or in an inclusive range`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    assert.deepEqual(await objects.write(id, bytesOf('hello ', 'world'), options), { size: 11 })
    assert.equal(await contentOf(objects, id), 'hello world')
    const part = await objects.read(id, { start: 4, end: 6 })
    assert.deepEqual([part.size, await text(part.body)], [11, 'o w'])
    const { size, storedAt } = await objects.check(id)
    assert.equal(size, 11)
    assert.ok(Math.abs(storedAt - Date.now()) < 60_000)
    await objects.removeUnfinished({ ids: [], since: 0 })
    assert.equal((await objects.check(id)).size, 11)
  })

  test(`${name}: an object is available as a local file while in use`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    await objects.write(id, bytesOf('hello'), options)
    {
      await using file = await objects.openLocalCopy(id, { signal })
      assert.equal(await readFile(file.path, 'utf8'), 'hello')
    }
    assert.equal(await contentOf(objects, id), 'hello')
    await assert.rejects(objects.openLocalCopy(randomUUID(), { signal }), {
      code: 'file_not_found',
    })
  })

  test(`${name}: an open object stays readable when it is deleted`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    await objects.write(id, bytesOf('hello'), options)
    const { size, body } = await objects.read(id)
    await objects.delete(id)
    assert.deepEqual([size, await text(body)], [5, 'hello'])
  })

  test(`${name}: a missing object is reported, and deleting it is allowed`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    await assert.rejects(objects.read(id), { code: 'file_not_found' })
    await objects.delete(id)
    await objects.write(id, bytesOf('x'), options)
    await objects.check(id)
    assert.deepEqual(await list(objects), [id])
    await objects.delete(id)
    await assert.rejects(objects.check(id), { code: 'file_not_found' })
    assert.deepEqual(await list(objects), [])
  })

  test(`${name}: only a UUID names an object`, async (t) => {
    const objects = await open(t)
    for (const id of ['../../etc/passwd', '', 'abc', `${randomUUID()}/x`, 'A'.repeat(36)]) {
      await assert.rejects(objects.read(id), { code: 'file_not_found' })
      await assert.rejects(objects.write(id, bytesOf('x'), options), { code: 'file_not_found' })
    }
  })
}

function testWriting(name: string, open: (t: TestContext) => Promise<ObjectStore>): void {
  test(`${name}: a write replaces the object of the same id`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    await objects.write(id, bytesOf('first'), options)
    await objects.write(id, bytesOf('second'), options)
    assert.equal(await contentOf(objects, id), 'second')
  })

  test(`${name}: replace() accepts any epoch and rejects a missing object`, async (t) => {
    const objects = await open(t)
    const [id, missing] = [randomUUID(), randomUUID()]
    await objects.write(id, bytesOf('before'), { ...options, epoch: 3 })
    await objects.replace(id, bytesOf('afterwards'), { signal })
    assert.equal(await contentOf(objects, id), 'afterwards')
    await assert.rejects(objects.replace(missing, bytesOf('x'), { signal }), {
      code: 'file_not_found',
    })
    assert.deepEqual(await list(objects), [id])
  })

  test(`${name}: a local file becomes an object that outlives it`, async (t) => {
    const objects = await open(t)
    const [id, file] = [randomUUID(), join(await makeFolder(t), 'file')]
    await writeFile(file, 'hello')
    await objects.write(id, bytesOf('before'), options)
    await objects.adopt(id, file)
    await objects.adopt(id, file)
    assert.equal((await stat(file)).size, 5, 'the caller removes it')
    await rm(file)
    assert.equal(await contentOf(objects, id), 'hello')
    await assert.rejects(objects.adopt(id, file), { code: 'file_not_found' })
    assert.equal(await contentOf(objects, id), 'hello')
  })

  test(`${name}: a write beyond the limit fails and leaves nothing`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    const limit = { ...options, maxBytes: 10 }
    const write = objects.write(id, bytesOf('hello ', 'world'), limit)
    await assert.rejects(write, { code: 'media_too_large' })
    await assert.rejects(objects.check(id), { code: 'file_not_found' })
    assert.deepEqual(await objects.write(id, bytesOf('0123456789'), limit), { size: 10 })
  })

  test(`${name}: a write that is refused or whose source fails leaves nothing`, async (t) => {
    const objects = await open(t)
    const id = randomUUID()
    const reserve = async (bytes: number) => {
      if (bytes > 5) throw new Error('no space')
    }
    const refused = objects.write(id, bytesOf('half', 'too much'), { ...options, reserve })
    await assert.rejects(refused, /no space/)
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half')
      throw new Error('connection reset')
    }
    await assert.rejects(objects.write(id, broken(), options), /connection reset/)
    assert.deepEqual(await list(objects), [])
  })

  test(`${name}: an aborted write ends even if its source does not`, async (t) => {
    const objects = await open(t)
    const abort = new AbortController()
    const source = new PassThrough()
    source.write('hello')
    const written = objects.write(randomUUID(), source, { ...options, signal: abort.signal })
    while (source.readableLength > 0) await setImmediate()
    abort.abort(new Error('the client is gone'))
    await assert.rejects(written, /the client is gone/)
    assert.deepEqual(await list(objects), [])
  })
}
