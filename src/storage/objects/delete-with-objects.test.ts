import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { oneChunk } from '../../../test/support/audio/fake-media.ts'
import { endNewJob } from '../../../test/support/delivery/test-deliveries.ts'
import { addFile } from '../../../test/support/jobs/test-jobs.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import type { Db } from '../database/db.ts'
import { deleteOldDeliveries } from '../deliveries/deliveries.ts'
import { deleteExpiredJobs } from '../jobs/deletion/retention.ts'
import { deleteDeliveredJobs, deleteEndedRecordings } from '../jobs/deletion/zero-retention.ts'
import { replaceResult } from '../jobs/results.ts'
import { deleteUnusedRecordings } from '../recordings/recordings.ts'

const longResult = { text: 'x'.repeat(300_000) }

/** A database with a recording that an ended job with a long result uses. */
async function openWithJob(t: TestContext) {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  await store(db, fileId)
  const id = await endNewJob(db, { fileId, result: longResult, at: 2000 })
  return { db, id, lossy: createLossyDatabase(db) }
}

async function store(db: Db, id: string): Promise<void> {
  const { signal } = new AbortController()
  await db.objects.write(id, oneChunk(Buffer.from('sound')), { maxBytes: 9, signal })
}

async function listObjects(db: Db): Promise<string[]> {
  return (await Array.fromAsync(db.objects.list())).flat()
}

test("an expired job's objects are deleted if the database's response is lost", async (t) => {
  const { db, lossy } = await openWithJob(t)
  lossy.loseNext()
  await assert.rejects(deleteExpiredJobs(lossy.db, { endedBefore: 3000 }))
  assert.deepEqual(await listObjects(db), [])
})

test('so is a recording that no job used', async (t) => {
  const { db } = await openTestStorage(t)
  await store(db, await addFile(db, { createdAt: 100 }))
  const lossy = createLossyDatabase(db)
  lossy.loseNext()
  await assert.rejects(deleteUnusedRecordings(lossy.db, { from: 0, to: 200 }))
  assert.deepEqual(await listObjects(db), [])
})

test('so is the long message of an old delivery', async (t) => {
  const { db, lossy, id } = await openWithJob(t)
  const body = (await listObjects(db))[0]!.replace(/^.{8}/, '00000000')
  await store(db, body)
  await db.sql
    .insertInto('deliveries')
    .values({
      id: 'd',
      account: 'acme',
      job_id: id,
      endpoint_id: 'e',
      seq: 0,
      kind: 'webhook',
      event: 'x',
      method: 'POST',
      url: 'http://a.example/',
      state: 'delivered',
      created_at: 1,
      ended_at: 2,
      body_object: body,
    })
    .execute()
  lossy.loseNext()
  await assert.rejects(deleteOldDeliveries(lossy.db, { endedBefore: 3000 }))
  const left = await listObjects(db)
  assert.equal(left.length, 2)
  assert.ok(!left.includes(body))
})

test('so is the recording of a zero-retention job', async (t) => {
  for (const remove of [deleteEndedRecordings, deleteDeliveredJobs]) {
    const { db, lossy } = await openWithJob(t)
    await db.sql.updateTable('jobs').set({ zero_retention: 1, delivered_at: 2001 }).execute()
    lossy.loseNext()
    await assert.rejects(remove(lossy.db))
    const isLeft = remove === deleteEndedRecordings
    assert.equal((await listObjects(db)).length, isLeft ? 1 : 0, 'the recording is gone')
  }
})

test('so is a result that another one has replaced', async (t) => {
  const { db, lossy, id } = await openWithJob(t)
  const { result_object } = await db.sql
    .selectFrom('jobs')
    .select('result_object')
    .executeTakeFirstOrThrow()
  const read = { jobId: id, stored: { object: result_object! } }
  lossy.loseNext()
  await assert.rejects(replaceResult(lossy.db, read, { ...longResult, a: 1 }))
  const left = await listObjects(db)
  assert.equal(left.length, 2)
  assert.ok(!left.includes(result_object!))
})

test('objects stay if the deletion of their rows was undone', async (t) => {
  const { db } = await openWithJob(t)
  const before = (await listObjects(db)).sort()
  await db.deletions.deleteUnreferenced(before)
  assert.deepEqual((await listObjects(db)).sort(), before)
})
