import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Db } from '../../../../src/storage/database/db.ts'
import { recordOutcome } from '../../../../src/storage/deliveries/deliveries.ts'
import {
  deleteDeliveredJobs,
  deleteEndedRecordings,
  markResultDelivered,
} from '../../../../src/storage/jobs/deletion/zero-retention.ts'
import { failJob, finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import { insertJob } from '../../../../src/storage/jobs/queue/insert-job.ts'
import { finishLiveJob } from '../../../../src/storage/live/live-jobs.ts'
import { removeOrphanObjects } from '../../../../src/storage/objects/orphans/orphan-objects.ts'
import {
  addWebhook,
  attemptAt,
  callbackTo,
  failAll,
  takeAll,
} from '../../../support/delivery/test-deliveries.ts'
import { addFile, addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { beginNewLiveJob } from '../../../support/live/sessions/test-live-jobs.ts'
import { createSuite } from '../suite.ts'

/** Jobs of which nothing is kept once their result was delivered. */
export const zeroRetentionTests = createSuite()
const { test } = zeroRetentionTests

const account = 'acme'
const { signal } = new AbortController()
const long = { text: 'x'.repeat(300_000) }

type Given = { params?: Record<string, unknown>; fileId?: string; fails?: boolean }

/** Ends a new job at 9000. */
async function endJob(db: Db, { params = {}, fileId, fails = false }: Given = {}): Promise<string> {
  const id = randomUUID()
  const source = fileId ? null : 'https://audio.example/talk.mp3'
  const file = { id: fileId ?? randomUUID(), filename: 'talk.mp3', source }
  const job = { id, account, createdAt: 1000, runAfter: 0, params, file, zeroRetention: true }
  await insertJob(db, { ...job, customMetadata: { of: 'acme' } }, { maxQueued: 10 })
  const { lease, zeroRetention } = (await claim(db))!
  assert.ok(zeroRetention)
  const failure = { code: 400, message: 'it broke' }
  if (fails) await failJob(db, lease, { failure, at: 9000 })
  else await finishJob(db, lease, { result: long, at: 9000 })
  return id
}

async function deliverAll(db: Db): Promise<void> {
  for (let due = await takeAll(db); due.length > 0; due = await takeAll(db)) {
    for (const delivery of due) {
      await recordOutcome(db, { delivery, attempt: attemptAt(9500), outcome: 'delivered' })
    }
  }
}

async function countObjects(db: Db): Promise<number> {
  return (await Array.fromAsync(db.objects.list())).flat().length
}

/** Asserts that these jobs were deleted, and that no row and no object is left. */
async function assertGone(db: Db, deleted: readonly string[], ids: readonly string[]) {
  assert.deepEqual(deleted, ids)
  for (const table of ['jobs', 'deliveries', 'delivery_attempts', 'files'] as const) {
    assert.deepEqual(await db.sql.selectFrom(table).selectAll().execute(), [], table)
  }
  assert.equal(await countObjects(db), 0)
}

test('a result waits until its owner has read it', async ({ db }) => {
  const id = await endJob(db)
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 8999 }), [])
  assert.equal(await markResultDelivered(db, { id, account: 'other' }, { at: 9100 }), false)
  assert.equal(await markResultDelivered(db, { id, account }, { at: 9100 }), true)
  assert.equal(await markResultDelivered(db, { id, account }, { at: 9200 }), false)
  assert.deepEqual(await deleteDeliveredJobs(db, { id: 'another', waitedSince: 8999 }), [])
  await assertGone(db, await deleteDeliveredJobs(db, { id, waitedSince: 8999 }), [id])
})

test('an unread result is deleted after its wait, other jobs are kept', async ({ db }) => {
  const id = await endJob(db, { fails: true })
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 9000 }), [id])
  const kept = (await addJob(db))!
  const { lease } = (await claim(db))!
  await finishJob(db, lease, { result: {}, at: 9000 })
  assert.equal(await markResultDelivered(db, { id: kept, account }, { at: 9100 }), false)
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 99_999 }), [])
})

test('a job that has not ended is not deleted, however old', async ({ db }) => {
  const { id } = await beginNewLiveJob(db, { zeroRetention: true })
  assert.equal(await markResultDelivered(db, { id, account }, { at: 9100 }), false)
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 99_999 }), [])
})

test('a result is kept until its callback is delivered', async ({ db }) => {
  const id = await endJob(db, { params: callbackTo('https://calls.example/') })
  await markResultDelivered(db, { id, account }, { at: 9100 })
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 99_999 }), [])
  await deliverAll(db)
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 0 }), [id])
})

test('a result accepted by a callback needs no other reader', async ({ db }) => {
  const id = await endJob(db, { params: callbackTo('https://calls.example/') })
  await deliverAll(db)
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 0 }), [id])
})

test('a result whose callback failed waits for a reader', async ({ db }) => {
  const id = await endJob(db, { params: callbackTo('https://calls.example/') })
  await failAll(db, await takeAll(db))
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 8999 }), [])
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 9000 }), [id])
})

test('pending webhook events delay the deletion, but only for a limited time', async ({ db }) => {
  await addWebhook(db)
  const id = await endJob(db)
  await markResultDelivered(db, { id, account }, { at: 9100 })
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 8999 }), [])
  await deliverAll(db)
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 8999 }), [id])
  const unread = await endJob(db)
  await deliverAll(db)
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 8999 }), [])
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 9000 }), [unread])
  const untold = await endJob(db)
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 9000 }), [untold])
})

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('audio')
}

/** Adds an upload with its bytes. */
async function addRecording(db: Db): Promise<string> {
  const id = await addFile(db)
  await db.objects.write(id, bytes(), { maxBytes: 100, signal })
  return id
}

test('a recording is deleted with the end of its job unless another one uses it', async ({
  db,
}) => {
  const fileId = await addRecording(db)
  const id = await endJob(db, { fileId })
  const other = (await addJob(db, { fileId }))!
  assert.equal(await deleteEndedRecordings(db), 0)
  await db.sql.updateTable('jobs').set({ zero_retention: 1 }).where('id', '=', other).execute()
  assert.equal(await deleteEndedRecordings(db, { id }), 0, 'the other still needs it')
  await db.sql.deleteFrom('jobs').where('id', '=', other).execute()
  assert.equal(await deleteEndedRecordings(db, { id: 'another' }), 0)
  assert.equal(await deleteEndedRecordings(db, { id }), 1)
  assert.equal(await countObjects(db), 1, 'the result')
})

test('the recording of a job without zero retention is kept', async ({ db }) => {
  const fileId = await addRecording(db)
  await addJob(db, { fileId })
  const { lease } = (await claim(db))!
  await finishJob(db, lease, { result: {}, at: 9000 })
  assert.equal(await deleteEndedRecordings(db), 0)
})

test('a recording without its row is deleted, not kept as an orphan', async ({ db, orphans }) => {
  const fileId = await addRecording(db)
  await endJob(db, { fileId })
  await db.sql.deleteFrom('files').execute()
  assert.ok(orphans)
  assert.equal(await removeOrphanObjects(db, [[fileId]], { orphans, signal }), 1)
  assert.deepEqual((await Array.fromAsync(orphans.list())).flat(), [])
})

test('an interrupted deletion is resumed', async ({ db }) => {
  const id = await endJob(db)
  await markResultDelivered(db, { id, account }, { at: 9100 })
  for (const object of (await Array.fromAsync(db.objects.list())).flat()) {
    await db.objects.delete(object)
  }
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince: 0 }), [id])
})

test('a zero-retention session keeps no recording', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db, { zeroRetention: true })
  const result = { result: '{}', result_object: null, result_size: null }
  const file = { size: 0, duration: 2, channels: 1 }
  assert.ok(await finishLiveJob(db, lease, { result, file, at: Date.now() }))
  assert.deepEqual(await db.sql.selectFrom('files').selectAll().execute(), [])
  const used = await db.sql.selectFrom('usage').select(['measure', 'amount']).execute()
  assert.ok(
    used.some(({ amount }) => amount === 2_000_000),
    JSON.stringify(used),
  )
  const waitedSince = Date.now() + 1000
  await assertGone(db, await deleteDeliveredJobs(db, { waitedSince }), [id])
})
