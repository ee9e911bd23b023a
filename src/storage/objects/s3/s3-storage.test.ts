import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { startFaultyS3 } from '../../../../test/support/storage/objects/faulty-s3.ts'
import { bytesOf } from '../../../../test/support/storage/objects/objects-conformance.ts'
import {
  noS3,
  s3Settings,
  s3Url,
  testS3,
} from '../../../../test/support/storage/objects/test-s3.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { checkObjectStore } from '../../../cli/operations/doctor/checks.ts'
import { readConfig } from '../../../config/config.ts'
import type { ObjectStoreConfig } from '../../../config/storage/object-store.ts'
import { createLog } from '../../../observability/log.ts'
import { insertRecording } from '../../recordings/recordings.ts'
import { openStorage, type StorageOptions } from '../../storage.ts'

const log = createLog('silent')
const options = { maxBytes: 1000, signal: new AbortController().signal }
const file = { account: 'acme', filename: null, source: null, extension: 'wav', size: 4 }
const media = { duration: 1, channels: 1, createdAt: 1 }

async function open(t: TestContext, given: Omit<StorageOptions, 'log'>) {
  const storage = await openStorage({ ...given, log })
  t.after(() => storage.close())
  return storage
}

/** Lets the server say that objects were stored an hour ago. */
async function makeOld(
  { bucket, prefix }: ObjectStoreConfig,
  ids: readonly string[],
): Promise<void> {
  const { folder } = await testS3()
  for (const id of ids) {
    const path = join(folder, 'buckets', bucket, prefix, 'objects', id.slice(0, 2), id)
    await utimes(path, new Date(), new Date(Date.now() - 3600_000))
  }
}

test('objects are stored in a bucket, and unknown ones moved aside', {
  skip: noS3,
}, async (t) => {
  const [folder, objectStore] = [await makeFolder(t), await s3Settings()]
  const [kept, lost] = [randomUUID(), randomUUID()]
  const first = await openStorage({ folder, objectStore, log })
  for (const id of [kept, lost]) await first.objects.write(id, bytesOf('kept'), options)
  await insertRecording(first.db, { id: kept, ...file, ...media })
  // Of a process that is alive, or whose clock is behind.
  const recent = randomUUID()
  await first.objects.write(recent, bytesOf('new'), options)
  await first.close()
  await makeOld(objectStore, [kept, lost])

  const second = await openStorage({ folder, objectStore, log })
  await second.swept
  assert.deepEqual(
    (await Array.fromAsync(second.objects.list())).flat().sort(),
    [kept, recent].sort(),
  )
  assert.deepEqual((await Array.fromAsync(second.orphans!.list())).flat(), [lost])
  // As if a newer database had been restored.
  await insertRecording(second.db, { id: lost, ...file, ...media })
  await second.close()
  const third = await open(t, { folder, objectStore })
  assert.equal((await third.objects.check(lost)).size, 4)
  await assert.rejects(readdir(join(folder, 'objects')), { code: 'ENOENT' })
})

test('unknown objects or another store location prevent the start', {
  skip: noS3,
}, async (t) => {
  const objectStore = await s3Settings()
  const first = await open(t, { folder: await makeFolder(t), objectStore })
  await first.objects.write(randomUUID(), bytesOf('x'), options)
  const other = await makeFolder(t)
  await assert.rejects(openStorage({ folder: other, objectStore, log }), /with an empty database/)

  const folder = await makeFolder(t)
  const local = await openStorage({ folder, log })
  const id = randomUUID()
  await local.objects.write(id, bytesOf('x'), options)
  await insertRecording(local.db, { id, ...file, ...media })
  await local.close()
  const place = { folder, objectStore: await s3Settings() }
  await assert.rejects(openStorage({ ...place, log }), /has objects; move it/)
})

test('readiness and doctor report an unavailable object store', { skip: noS3 }, async (t) => {
  const { endpoint } = await testS3()
  const proxy = await startFaultyS3(t, endpoint)
  const objectStore = await s3Settings({ endpoint: proxy.endpoint })
  const { objects } = await open(t, { folder: await makeFolder(t), objectStore })
  const doctor = (settings = objectStore) => {
    return checkObjectStore(readConfig({ STENO_OBJECT_STORE: s3Url(settings) }))
  }
  await objects.checkAvailable!()
  const { host } = new URL(proxy.endpoint)
  const place = `s3://test/${objectStore.prefix} at ${host}`
  assert.deepEqual(await doctor(), { state: 'ok', text: `object store ${place} works` })
  proxy.disturb('away')
  const written = objects.write(randomUUID(), bytesOf('x'), options)
  await assert.rejects(written, { code: 'object_store_unavailable', retryAfter: 5 })
  proxy.disturb('full')
  assert.deepEqual(await doctor(), {
    state: 'fail',
    text: `object store ${place}: Cannot write to the disk: the object store has no space left`,
  })
  assert.equal((await doctor({ ...objectStore, bucket: 'gone' }))!.state, 'fail')
})

test('a removed bucket is not reported as a missing object', { skip: noS3 }, async (t) => {
  const { folder: server } = await testS3()
  const bucket = `removed-${process.pid}`
  await mkdir(join(server, 'buckets', bucket))
  const objectStore = await s3Settings({ bucket })
  const { objects } = await open(t, { folder: await makeFolder(t), objectStore })
  const id = randomUUID()
  await objects.write(id, bytesOf('x'), options)
  await rename(join(server, 'buckets', bucket), join(server, bucket))
  const away = { code: 'object_store_unavailable', message: /its bucket does not exist/ }
  await assert.rejects(objects.check(id), away)
  await assert.rejects(objects.read(id), away)
  await assert.rejects(objects.openLocalCopy(id, options), away)
  await assert.rejects(objects.delete(id), away)
  await assert.rejects(objects.checkAvailable!(), away)
  // The storage closes with the bucket.
  await rename(join(server, bucket), join(server, 'buckets', bucket))
})

test('reads and local copies resume after a broken connection', { skip: noS3 }, async (t) => {
  const { endpoint } = await testS3()
  const proxy = await startFaultyS3(t, endpoint)
  const objectStore = await s3Settings({ endpoint: proxy.endpoint })
  const { objects } = await open(t, { folder: await makeFolder(t), objectStore })
  const id = randomUUID()
  const content = Buffer.alloc(7000, 'abcdefg')
  await objects.write(id, bytesOf(content.toString()), { ...options, maxBytes: 10_000 })
  const { body } = await objects.read(id)
  proxy.disturb('cut')
  assert.deepEqual(await buffer(body), content)
  assert.deepEqual(
    await buffer((await objects.read(id, { start: 1, end: 6998 })).body),
    content.subarray(1, 6999),
  )
  assert.ok(proxy.disturbed > 1, 'it was cut more than once')
})
