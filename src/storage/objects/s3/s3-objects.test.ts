import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { TEST_CREDENTIALS } from '../../../../scripts/tests/test-tools/test-s3.ts'
import {
  bytesOf,
  testObjects,
} from '../../../../test/support/storage/objects/objects-conformance.ts'
import { noS3, s3Settings, testS3 } from '../../../../test/support/storage/objects/test-s3.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import type { ObjectStoreConfig } from '../../../config/storage/object-store.ts'
import type { ObjectStore } from '../object-store.ts'
import { createS3 } from './s3-client.ts'
import { openS3Objects } from './s3-objects.ts'

const { signal } = new AbortController()
const options = { maxBytes: 100_000_000, signal }
/** Three parts. */
const LONG = 12 * 1024 * 1024

async function openTest(t: TestContext, changes: Partial<ObjectStoreConfig> = {}) {
  const settings = await s3Settings(changes)
  const folder = await makeFolder(t)
  const objects = await openS3Objects({ settings, folder, nodeId: 'me' })
  t.after(() => objects.close?.())
  const s3 = await createS3(settings)
  t.after(() => s3.client.destroy())
  return { objects, settings, folder, s3 }
}

async function* longBytes(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < LONG / 65_536; n++) yield Buffer.alloc(65_536, n)
}

async function list(objects: Pick<ObjectStore, 'list'>): Promise<string[]> {
  return (await Array.fromAsync(objects.list())).flat()
}

async function uploadsOf({
  client,
  commands,
  bucket,
  prefix,
}: Awaited<ReturnType<typeof createS3>>) {
  const list = new commands.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix })
  return (await client.send(list)).Uploads ?? []
}

if (noS3) test('objects in S3-compatible storage', { skip: noS3 }, () => {})
else {
  testObjects('objects in S3', async (t) => (await openTest(t)).objects)

  test('a long object is uploaded in parts and read in ranges', async (t) => {
    const { objects } = await openTest(t)
    const id = randomUUID()
    assert.deepEqual(await objects.write(id, longBytes(), options), { size: LONG })
    const range = { start: 65_535, end: 65_536 }
    const part = await objects.read(id, range)
    assert.deepEqual([part.size, [...(await buffer(part.body))]], [LONG, [0, 1]])
    const whole = await buffer((await objects.read(id)).body)
    assert.equal(whole.length, LONG)
    assert.ok(whole.every((byte, at) => byte === (at >> 16) % 256))
  })

  test('an aborted or failed upload leaves no parts', async (t) => {
    const { objects, s3 } = await openTest(t)
    const abort = new AbortController()
    const source = new PassThrough()
    const written = objects.write(randomUUID(), source, { ...options, signal: abort.signal })
    for await (const bytes of longBytes()) source.write(bytes)
    while ((await uploadsOf(s3)).length === 0);
    abort.abort(new Error('the client is gone'))
    await assert.rejects(written, /the client is gone/)
    const tooLong = objects.write(randomUUID(), longBytes(), { ...options, maxBytes: LONG - 1 })
    await assert.rejects(tooLong, { code: 'media_too_large' })
    assert.deepEqual(await uploadsOf(s3), [])
    assert.deepEqual(await list(objects), [])
  })

  test('uploads of dead processes are aborted, those of running ones are kept', async (t) => {
    const { objects, s3, settings } = await openTest(t)
    const { client, commands, bucket } = s3
    const Key = `${settings.prefix}/objects/ab/${randomUUID()}`
    await client.send(new commands.CreateMultipartUploadCommand({ Bucket: bucket, Key }))
    await objects.removeUnfinished({ ids: [], since: Date.now() })
    assert.equal((await uploadsOf(s3)).length, 1)
    await objects.removeUnfinished({ ids: [], since: Date.now() + 3600_000 })
    assert.deepEqual(await uploadsOf(s3), [])
  })

  test('an attempt without its lease overwrites and deletes nothing', async (t) => {
    const { objects } = await openTest(t)
    const id = randomUUID()
    const write = (part: string, epoch: number) =>
      objects.write(id, bytesOf(part), { ...options, epoch })
    await write('first', 9)
    await write('second', 10)
    await write('stale', 9)
    assert.equal(await text((await objects.read(id)).body), 'second')
    await objects.delete(id, { epoch: 9 })
    assert.equal(await text((await objects.read(id)).body), 'second')
    assert.deepEqual(await list(objects), [id])
    await using file = await objects.openLocalCopy(id, { signal })
    assert.equal(await readFile(file.path, 'utf8'), 'second')
    await objects.delete(id)
    assert.deepEqual(await list(objects), [])
    await assert.rejects(objects.check(id), { code: 'file_not_found' })
  })

  test('local copies are shared, limited and removed at the end', async (t) => {
    const { objects, folder } = await openTest(t, { cacheBytes: 10 })
    const copies = async () => (await readdir(join(folder, 'me')).catch(() => [])).length
    const [first, second] = [randomUUID(), randomUUID()]
    await objects.write(first, bytesOf('12345678'), { ...options, keepsLocalCopy: true })
    assert.equal(await copies(), 1, 'the bytes of an upload are kept')
    {
      await using one = await objects.openLocalCopy(first, { signal })
      await using other = await objects.openLocalCopy(first, { signal })
      assert.equal(one.path, other.path)
      await objects.write(second, bytesOf('abcdefgh'), options)
      const more = await Promise.all([1, 2].map(() => objects.openLocalCopy(second, { signal })))
      assert.equal(await copies(), 2, 'what is used stays')
      for (const file of more) await file[Symbol.asyncDispose]()
      assert.equal((await stat(one.path)).size, 8)
    }
    assert.equal(await copies(), 1)
    await objects.close?.()
    assert.equal(await copies(), 0)
  })

  test('deleting an object removes its local copy', async (t) => {
    const { objects, folder } = await openTest(t)
    const id = randomUUID()
    await objects.write(id, bytesOf('sound'), { ...options, keepsLocalCopy: true })
    assert.equal((await readdir(join(folder, 'me'))).length, 1)
    await objects.delete(id)
    assert.deepEqual(await readdir(join(folder, 'me')), [])
  })

  test('a copy is not used for a newer object, and stale copies are removed', async (t) => {
    const { objects, folder } = await openTest(t)
    const id = randomUUID()
    for (const content of ['old', 'new']) {
      await objects.write(id, bytesOf(content), options)
      await using file = await objects.openLocalCopy(id, { signal })
      assert.equal(await readFile(file.path, 'utf8'), content)
    }
    await writeFile(join(folder, 'not-a-process'), '')
    await objects.removeUnfinished({ ids: [], since: 0 })
    assert.deepEqual(await readdir(folder), ['me'])
  })

  test('orphans are moved within the bucket, restored and expired', async (t) => {
    const { objects } = await openTest(t)
    const orphans = objects.orphans!
    const id = randomUUID()
    await objects.write(id, bytesOf('kept'), { ...options, epoch: 3 })
    await orphans.add(id, { signal })
    await orphans.add(randomUUID(), { signal })
    assert.deepEqual([await list(objects), await list(orphans)], [[], [id]])
    await orphans.restore(id)
    assert.deepEqual([await list(objects), await list(orphans)], [[id], []])
    assert.equal(await text((await objects.read(id)).body), 'kept')
    await orphans.add(id, { signal })
    assert.equal(await orphans.deleteBefore(Date.now() - 60_000, { signal }), 0)
    assert.equal(await orphans.deleteBefore(Date.now() + 60_000, { signal }), 1)
    assert.deepEqual(await list(orphans), [])
  })

  test('credentials may come from a shared file, and missing ones are reported', async (t) => {
    const settings = await s3Settings()
    const folder = await makeFolder(t)
    t.after(() => {
      delete process.env.AWS_SHARED_CREDENTIALS_FILE
      return testS3()
    })
    delete process.env.AWS_ACCESS_KEY_ID
    delete process.env.AWS_SECRET_ACCESS_KEY
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'credentials')
    await assert.rejects(
      openS3Objects({ settings, folder, nodeId: 'me' }),
      /there are no credentials \(STENO_OBJECT_STORE\)/,
    )
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = TEST_CREDENTIALS
    const profile = `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`
    await writeFile(join(folder, 'other'), profile)
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'other')
    const objects = await openS3Objects({ settings, folder, nodeId: 'me' })
    await objects.close?.()
  })

  test('a wrong bucket or wrong credentials are reported at the start', async (t) => {
    const folder = await makeFolder(t)
    const { endpoint } = await testS3()
    const noBucket = await s3Settings({ bucket: 'missing', prefix: '' })
    const { host } = new URL(endpoint)
    await assert.rejects(
      openS3Objects({ settings: noBucket, folder, nodeId: 'me' }),
      new RegExp(`Cannot use the object store s3://missing at ${host}: its bucket does not exist`),
    )
    process.env.AWS_SECRET_ACCESS_KEY = 'wrong'
    t.after(() => testS3())
    const settings = await s3Settings()
    process.env.AWS_SECRET_ACCESS_KEY = 'wrong'
    await assert.rejects(
      openS3Objects({ settings, folder, nodeId: 'me' }),
      /it refuses the credentials \(SignatureDoesNotMatch\)/,
    )
  })
}
