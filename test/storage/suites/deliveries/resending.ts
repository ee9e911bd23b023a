import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { inTransaction } from '../../../../src/storage/database/db.ts'
import { recordOutcome } from '../../../../src/storage/deliveries/deliveries.ts'
import { queueLiveCallbacks } from '../../../../src/storage/deliveries/queue-deliveries.ts'
import { resendDelivery, resendFailed } from '../../../../src/storage/deliveries/resending.ts'
import {
  addWebhook,
  attemptAt,
  callbackTo,
  endNewJob,
  failAll,
  takeAll,
} from '../../../support/delivery/test-deliveries.ts'
import { addJob } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Deliveries that are sent again. */
export const resendingTests = createSuite()
const { test } = resendingTests

const params = callbackTo('https://app.example/hook')

test('a failed delivery is resent under its id and keeps its attempts', async ({ db }) => {
  await endNewJob(db, { params, result: {} })
  const [delivery] = await takeAll(db)
  await failAll(db, [delivery!])
  const { id } = delivery!
  assert.equal(await resendDelivery(db, { id, account: 'other', at: 1 }), 'missing')
  assert.equal(await resendDelivery(db, { id, account: 'acme', at: 20_000 }), 'queued')
  const [again] = await takeAll(db, 20_000)
  assert.deepEqual(
    [again?.id, again?.attemptsSinceQueued, again?.attempts, again?.reason, again?.endedAt],
    [id, 0, 1, null, null],
  )
})

test('a delivery waiting for its retry becomes due at once, a later one does not', async ({
  db,
}) => {
  await addWebhook(db)
  await endNewJob(db, { result: {} })
  const [first] = await takeAll(db)
  const retry = { outcome: 'retry' as const, nextAt: 90_000, reason: 'it answered 500' }
  await recordOutcome(db, { delivery: first!, attempt: attemptAt(11_000, 500), ...retry })
  const second = await db.sql
    .selectFrom('deliveries')
    .select('id')
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow()
  for (const { id } of [second, first!]) {
    assert.equal(await resendDelivery(db, { id, account: 'acme', at: 20_000 }), 'queued')
  }
  assert.deepEqual(
    (await takeAll(db, 20_000)).map(({ id, attemptsSinceQueued: tries }) => [id, tries]),
    [[first!.id, 1]],
  )
})

test('a resent earlier event waits for the later one in flight', async ({ db }) => {
  await addWebhook(db)
  await endNewJob(db, { result: {} })
  const [first] = await takeAll(db)
  await failAll(db, [first!])
  const [second] = await takeAll(db, 12_000)
  await resendDelivery(db, { id: first!.id, account: 'acme', at: 13_000 })
  assert.deepEqual(
    (await takeAll(db, 13_000)).map(({ id }) => id),
    [second!.id],
  )
  await failAll(db, [second!], 14_000)
  assert.deepEqual(
    (await takeAll(db, 15_000)).map(({ id }) => id),
    [first!.id],
  )
})

test('a test event can be resent without a job', async ({ db }) => {
  await addWebhook(db)
  await addJob(db)
  const [{ id } = { id: '' }] = await takeAll(db)
  const ended = { state: 'failed' as const, job_id: null, next_at: null, ended_at: 5 }
  await db.sql.updateTable('deliveries').set(ended).execute()
  assert.equal(await resendDelivery(db, { id, account: 'acme', at: 20_000 }), 'queued')
  assert.deepEqual(
    (await takeAll(db, 20_000)).map((delivery) => delivery.id),
    [id],
  )
})

test('deliveries of a disabled or removed endpoint are not resent', async ({ db }) => {
  const webhook = await addWebhook(db)
  await addJob(db)
  const [delivery] = await takeAll(db)
  await failAll(db, [delivery!])
  const { id } = delivery!
  const endpoint = db.sql.updateTable('endpoints').where('id', '=', webhook)
  await endpoint.set({ disabled_at: 1 }).execute()
  assert.equal(await resendDelivery(db, { id, account: 'acme', at: 20_000 }), 'disabled')
  assert.equal(await resendFailed(db, { account: 'acme', since: 0, at: 20_000 }), 0)
  await db.sql.deleteFrom('endpoints').execute()
  assert.equal(await resendDelivery(db, { id, account: 'acme', at: 20_000 }), 'gone')
  assert.equal(await resendFailed(db, { account: 'acme', since: 0, at: 20_000 }), 0)
})

test('all failures since a time are resent in the order of their sequences', async ({ db }) => {
  await addWebhook(db)
  await addWebhook(db, { account: 'other' })
  const jobId = await endNewJob(db, { result: {} })
  await failAll(db, await takeAll(db), 11_000)
  await failAll(db, await takeAll(db, 12_000), 12_000)
  const early = await addJob(db)
  await failAll(db, await takeAll(db), 5000)
  for (let i = 0; i < 120; i++) await addJob(db)
  await addJob(db, { account: 'other' })
  await failAll(db, await takeAll(db), 13_000)

  const since = 11_000
  const resend = (filter: { jobId?: string; endpointId?: string }) => {
    return resendFailed(db, { account: 'acme', since, at: 20_000, ...filter })
  }
  assert.equal(await resend({ jobId: early! }), 0)
  assert.equal(await resend({ endpointId: 'another' }), 0)
  assert.equal(await resend({}), 122)
  const due = await takeAll(db, 20_000)
  assert.equal(due.length, 121)
  const sequence = due.filter((delivery) => delivery.jobId === jobId)
  assert.deepEqual(
    sequence.map(({ event }) => event),
    ['transcription.created'],
  )
  assert.ok(!due.some((delivery) => delivery.jobId === early || delivery.account === 'other'))
})

test('a long sequence keeps its order for any failure times', async ({ db }) => {
  const job = { id: randomUUID(), account: 'acme', request_params: JSON.stringify(params) }
  const messages = Array.from({ length: 450 }, (_, seq) => {
    return { seq, event: 'live.transcript', body: '{}', body_object: null, isDroppable: false }
  })
  await inTransaction(db, (tx) => queueLiveCallbacks(tx, job, messages, { at: 1, maxQueued: 1000 }))
  const failed = { state: 'failed' as const, next_at: null }
  await db.sql.updateTable('deliveries').set(failed).execute()
  await sql`update deliveries set ended_at = 20000 - seq`.execute(db.sql)
  assert.equal(await resendFailed(db, { account: 'acme', since: 0, at: 20_000 }), 450)
  // Had a later one been queued before it, that one would be due now.
  assert.deepEqual(
    (await takeAll(db, 1e9)).map(({ seq }) => seq),
    [0],
  )
})
