import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import {
  createDatabase,
  noPostgres,
} from '../../../test/support/storage/databases/test-postgres.ts'
import { bytesOf } from '../../../test/support/storage/objects/objects-conformance.ts'
import { noS3, s3Settings } from '../../../test/support/storage/objects/test-s3.ts'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import {
  checkMoved,
  fillStore,
  hashFolder,
} from '../../../test/support/storage/upgrades/filled-store.ts'
import type { DatabaseConfig } from '../../config/storage/database.ts'
import type { ObjectStoreConfig } from '../../config/storage/object-store.ts'
import { createLog } from '../../observability/log.ts'
import { createS3 } from '../objects/s3/s3-client.ts'
import { openStorage } from '../storage.ts'
import { type TransferOptions, type TransferStage, transferStore } from './transfer-store.ts'

const log = createLog('silent')
const skip = noPostgres || noS3
const FILLING = { jobs: 700, objects: 12 }
const { signal } = new AbortController()

function move(folder: string, given: Partial<TransferOptions> = {}): Promise<void> {
  const usual = { isRestarted: false, database: undefined, objectStore: undefined, signal }
  return transferStore({ folder, onProgress() {}, ...usual, ...given })
}

test('a data folder is copied to PostgreSQL and S3 and stays unchanged', { skip }, async (t) => {
  const folder = await fillStore(t, FILLING)
  const before = await hashFolder(folder)
  const [database, objectStore] = [await createDatabase(), await s3Settings()]
  const stages = new Set<string>()
  const onProgress = (stage: TransferStage) => stages.add(stage)
  await move(folder, { database, objectStore, onProgress })
  assert.deepEqual([...stages].map((stage) => stage.split(' ')[1]).sort(), [
    ...['objects', 'objects', 'rows', 'rows'],
  ])
  assert.equal(await hashFolder(folder), before)
  await checkMoved({ folder: await makeFolder(t), database, objectStore }, FILLING)
  await assert.rejects(move(folder, { database }), /in use, its table keys has rows/)
  await assert.rejects(move(folder, { objectStore }), /it has objects/)
})

test('rows or objects can be moved separately', { skip }, async (t) => {
  const folder = await fillStore(t, FILLING)
  const objectStore = await s3Settings()
  await move(folder, { objectStore })
  const database = await createDatabase()
  await move(folder, { database })
  await checkMoved({ folder: await makeFolder(t), database, objectStore }, FILLING)
})

test('a target in use is rejected', { skip }, async (t) => {
  const folder = await fillStore(t, { jobs: 1, objects: 1 })
  const used: { database: DatabaseConfig; objectStore: ObjectStoreConfig } = {
    database: await createDatabase(),
    objectStore: await s3Settings(),
  }
  const server = await openStorage({ folder: await makeFolder(t), ...used, log })
  t.after(() => server.close())
  await assert.rejects(move(folder, { database: used.database }), /its table owners has rows/)
  await server.objects.write(randomUUID(), bytesOf('x'), { maxBytes: 10, signal })
  await assert.rejects(move(folder, { objectStore: used.objectStore }), /it has objects/)
})

test('a folder in use by a server is not moved', { skip }, async (t) => {
  const folder = await makeFolder(t)
  const server = await openStorage({ folder, log })
  t.after(() => server.close())
  const objectStore = await s3Settings()
  await assert.rejects(move(folder, { objectStore }), /another server is using/)
  const { client, commands, bucket, prefix } = await createS3(objectStore)
  const list = new commands.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix })
  assert.equal((await client.send(list)).KeyCount, 0)
  client.destroy()
})
