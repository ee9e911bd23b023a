import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Db } from '../../src/storage/db.ts'
import { settleDelivery } from '../../src/storage/deliveries/deliveries.ts'
import { cancelRecordedJob } from '../../src/storage/jobs/cancel-job.ts'
import {
  deleteDeliveredJobs,
  deleteEndedRecordings,
  noteDelivered,
} from '../../src/storage/jobs/zero-retention.ts'
import {
  addWebhook,
  attemptAt,
  callbackTo,
  endNewJob,
  failAll,
  takeAll,
} from '../support/test-deliveries.ts'
import { addFile, addJob, type TestJob } from '../support/test-jobs.ts'
import { createSuite } from './suite.ts'

/** Jobs of which nothing is kept once their result was delivered. */
export const zeroRetentionTests = createSuite()
const { test } = zeroRetentionTests

const account = 'acme'

async function endUnkept(db: Db, job: TestJob = {}): Promise<string> {
  const id = await endNewJob(db, { ...job, result: {} })
  await db.sql.updateTable('jobs').set({ zero_retention: 1 }).where('id', '=', id).execute()
  return id
}

test('an ended job goes when its owner has read it, and only such a job', async ({ db }) => {
  const id = await endUnkept(db)
  const kept = await endNewJob(db, { result: {} })
  assert.deepEqual(await deleteDeliveredJobs(db), [])
  assert.equal(await noteDelivered(db, { id, account: 'other' }, { at: 1 }), false)
  assert.equal(await noteDelivered(db, { id: kept, account }, { at: 1 }), false)
  assert.deepEqual(await deleteDeliveredJobs(db), [])
  assert.equal(await noteDelivered(db, { id, account }, { at: 1 }), true)
  assert.deepEqual(await deleteDeliveredJobs(db, { id: kept }), [])
  assert.deepEqual(await deleteDeliveredJobs(db, { id }), [id])
})

test('a job that runs is not delivered', async ({ db }) => {
  const id = (await addJob(db))!
  await db.sql.updateTable('jobs').set({ zero_retention: 1 }).execute()
  assert.equal(await noteDelivered(db, { id, account }, { at: 1 }), false)
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 1e13 }), [])
})

test('a job whose callback was accepted goes once its webhooks have heard of it', async ({
  db,
}) => {
  const id = await endUnkept(db, { params: callbackTo('https://app.example/hook') })
  await addWebhook(db)
  const [callback] = await takeAll(db)
  const accepted = { attempt: attemptAt(11_000), outcome: 'delivered' } as const
  const webhook = { ...callback!, id: 'notice', endpointId: 'ep', seq: 1 }
  await db.sql
    .insertInto('deliveries')
    .values({
      ...{ id: webhook.id, account, job_id: id, endpoint_id: 'ep', seq: 1, kind: 'webhook' },
      ...{ event: 'transcription.success', method: 'POST', url: 'https://hooks.example/' },
      ...{ state: 'due', created_at: 1, next_at: 1 },
    })
    .execute()
  await settleDelivery(db, { delivery: callback!, ...accepted })
  assert.deepEqual(await deleteDeliveredJobs(db), [])
  await settleDelivery(db, { delivery: webhook, ...accepted })
  assert.deepEqual(await deleteDeliveredJobs(db), [id])
  const left = await db.sql.selectFrom('delivery_attempts').selectAll().execute()
  assert.deepEqual(left, [])
})

test('what nobody has read goes when it has waited, unless a callback is still tried', async ({
  db,
}) => {
  const id = await endUnkept(db, { params: callbackTo('https://app.example/hook') })
  const waited = { waitedSince: 10_000 }
  assert.deepEqual(await deleteDeliveredJobs(db, waited), [])
  await failAll(db, await takeAll(db))
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 9000 }), [])
  assert.deepEqual(await deleteDeliveredJobs(db, waited), [id])
})

test('of a session only the accepted result counts, not the messages before', async ({ db }) => {
  const id = await endUnkept(db)
  await db.sql.updateTable('jobs').set({ kind: 'live' }).execute()
  const message = { account, job_id: id, endpoint_id: 'ep', kind: 'live', method: 'POST' } as const
  const sent = { url: 'https://app.example/', state: 'delivered', created_at: 1 } as const
  const events = ['live.transcript', 'live.post_final_transcript']
  for (const [seq, event] of events.entries()) {
    assert.deepEqual(await deleteDeliveredJobs(db), [])
    const row = { ...message, ...sent, id: event, seq, event, next_at: null }
    await db.sql.insertInto('deliveries').values(row).execute()
  }
  assert.deepEqual(await deleteDeliveredJobs(db), [id])
})

test('the recording goes with the end of its last job, whichever way that ended', async ({
  db,
}) => {
  const fileId = await addFile(db)
  const shared = await addFile(db)
  const { signal } = new AbortController()
  const sound = Readable.from([Buffer.from('sound')])
  await db.objects.write(fileId, sound, { maxBytes: 10, signal })
  const ended = await endUnkept(db, { fileId: shared })
  const canceled = (await addJob(db, { fileId }))!
  await addJob(db, { fileId: shared })
  await db.sql.updateTable('jobs').set({ zero_retention: 1 }).execute()
  assert.equal(await deleteEndedRecordings(db), 0)
  const failure = { code: 499, message: 'canceled' }
  await cancelRecordedJob(db, { id: canceled, account }, { failure, at: 10_000 })
  assert.equal(await deleteEndedRecordings(db, { id: ended }), 0)
  assert.equal(await deleteEndedRecordings(db), 1)
  await assert.rejects(db.objects.check(fileId))
  const left = await db.sql.selectFrom('files').select('id').execute()
  assert.deepEqual(left, [{ id: shared }])
})
