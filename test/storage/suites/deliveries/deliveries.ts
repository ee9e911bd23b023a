import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Db, inTransaction } from '../../../../src/storage/database/db.ts'
import {
  type AttemptResult,
  correctDueTimes,
  type Delivery,
  deleteOldDeliveries,
  failEndpointDeliveries,
  findDueEndpoints,
  KEPT_ATTEMPTS,
  MAX_DUE_ENDPOINTS,
  recordOutcome,
  shiftDueTimes,
} from '../../../../src/storage/deliveries/deliveries.ts'
import {
  findNextDueDelivery,
  leaseDueDeliveries,
  renewDeliveries,
} from '../../../../src/storage/deliveries/delivery-leases.ts'
import { findAttempts, findDelivery } from '../../../../src/storage/deliveries/delivery-log.ts'
import {
  disableEndpoint,
  enableEndpoint,
} from '../../../../src/storage/deliveries/endpoints/endpoints.ts'
import { deleteEndedJob } from '../../../../src/storage/jobs/deletion/delete-job.ts'
import { findKnownObjects } from '../../../../src/storage/objects/orphans/known-objects.ts'
import {
  addDue,
  addWebhook,
  attemptAt,
  callbackTo,
  endNewJob,
  takeAll,
} from '../../../support/delivery/test-deliveries.ts'
import { addJob, atTime } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Taking, settling, failing and deleting deliveries. */
export const deliveryTests = createSuite()
const { test } = deliveryTests

const params = callbackTo('https://app.example/hook')

async function endpointOf(db: Db, id: string) {
  const row = await db.sql.selectFrom('endpoints').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow()
}

/**
 * Adds a webhook with two deliveries of one job in its sequence: the start event, then the end
 * event.
 */
async function addLane(db: Db): Promise<{ first: Delivery; endpointId: string; jobId: string }> {
  const endpointId = await addWebhook(db)
  const jobId = await endNewJob(db, { result: {} })
  const [first] = await takeAll(db)
  return { first: first!, endpointId, jobId }
}

const delivered = (delivery: Delivery, at = 11_000): AttemptResult => {
  return { delivery, attempt: attemptAt(at), outcome: 'delivered' }
}

test('the next delivery of a sequence becomes due after the one before it', async ({ db }) => {
  const { first } = await addLane(db)
  await recordOutcome(db, delivered(first))
  const [second, ...others] = await takeAll(db, 11_005)
  assert.deepEqual([second?.event, others], ['transcription.success', []])
  await recordOutcome(db, delivered(second!))
  assert.deepEqual(await takeAll(db, 1e9), [])
  const ended = await findDelivery(db, { id: first.id, account: 'acme' })
  assert.deepEqual(
    [ended?.state, ended?.reason, ended?.endedAt, ended?.attempts, ended?.nextAt],
    ['delivered', null, 11_005, 1, null],
  )
})

test('a delivery to be retried keeps its sequence waiting', async ({ db }) => {
  const { first, endpointId } = await addLane(db)
  const retry = { outcome: 'retry' as const, nextAt: 20_000, reason: 'it answered 500' }
  await recordOutcome(db, { delivery: first, attempt: attemptAt(11_000, 500), ...retry })
  assert.deepEqual(await takeAll(db, 19_999), [])
  const due = [{ endpointId, account: 'acme', nextAt: 20_000, isProven: false }]
  assert.deepEqual(await findDueEndpoints(db, { until: 20_000 }), due)
  assert.deepEqual(await findDueEndpoints(db, { until: 19_999 }), [])
  const [again, ...others] = await takeAll(db, 20_000)
  assert.deepEqual(
    [again?.id, again?.attemptsSinceQueued, again?.attempts, others],
    [first.id, 1, 1, []],
  )
  assert.equal(again?.reason, 'it answered 500')
})

test('an attempt whose commit got no response is counted once', async ({ db }) => {
  const { first } = await addLane(db)
  const retry = { outcome: 'retry' as const, nextAt: 20_000, reason: 'it answered 500' }
  const result = { delivery: first, attempt: attemptAt(11_000, 500), ...retry }
  for (let i = 0; i < 2; i++) await recordOutcome(db, result)
  const [again] = await takeAll(db, 20_000)
  assert.deepEqual([again?.attemptsSinceQueued, again?.attempts], [1, 1])
  for (let i = 0; i < 2; i++) await recordOutcome(db, delivered(first, 21_000))
  assert.equal((await findAttempts(db, [first.id])).get(first.id)?.length, 2)
})

test('a failed delivery is followed by the next unless its sequence ends', async ({ db }) => {
  const { first, jobId } = await addLane(db)
  const failed = { outcome: 'failed' as const, reason: 'it answered 410' }
  await recordOutcome(db, { delivery: first, attempt: attemptAt(11_000, 410), ...failed })
  const [second] = await takeAll(db, 12_000)
  assert.equal(second?.event, 'transcription.success')

  await db.sql.updateTable('deliveries').set({ state: 'waiting' }).execute()
  await db.sql.updateTable('deliveries').set({ state: 'due' }).where('id', '=', first.id).execute()
  const last = { delivery: first, attempt: attemptAt(13_000, 410), ...failed }
  await recordOutcome(db, { ...last, endsSequence: true })
  assert.deepEqual(await takeAll(db, 1e9), [])
  const rows = await db.sql.selectFrom('deliveries').selectAll().execute()
  const ends = rows.map(({ job_id, state, reason }) => [job_id, state, reason])
  assert.deepEqual(ends, Array(2).fill([jobId, 'failed', 'it answered 410']))
})

test('an endpoint records since when it fails and when it recovers', async ({ db }) => {
  const { first, endpointId } = await addLane(db)
  const fail = (at: number): AttemptResult => {
    const reason = `it answered 500 at ${at}`
    return { delivery: first, attempt: attemptAt(at, 500), outcome: 'retry', nextAt: 0, reason }
  }
  await recordOutcome(db, fail(11_000))
  await recordOutcome(db, fail(12_000))
  const failing = await endpointOf(db, endpointId)
  assert.deepEqual(
    [failing.failing_since, failing.last_failure, failing.last_success_at],
    [11_005, 'it answered 500 at 12000', null],
  )
  await recordOutcome(db, delivered(first, 13_000))
  const working = await endpointOf(db, endpointId)
  assert.deepEqual([working.failing_since, working.last_success_at], [null, 13_005])
})

test('failures far apart do not count as one failing period', async ({ db }) => {
  const { first, endpointId } = await addLane(db)
  const hour = 3_600_000
  for (const hours of [0, 18, 36, 57, 60]) {
    const retry = { outcome: 'retry' as const, nextAt: 0, reason: 'it answered 500' }
    const attempt = attemptAt(hours * hour, 500)
    await recordOutcome(db, { delivery: first, attempt, ...retry })
    const { failing_since } = await endpointOf(db, endpointId)
    assert.equal(failing_since, (hours < 57 ? 0 : 57) * hour + 5)
  }
})

test('the result of an attempt is recorded even if its delivery was ended meanwhile', async ({
  db,
}) => {
  const { first, endpointId } = await addLane(db)
  await disableEndpoint(db, endpointId, { reason: 'for the test', at: 11_000 })
  await failEndpointDeliveries(db, endpointId, { reason: 'disabled', at: 11_000 })
  const retry = { outcome: 'retry' as const, nextAt: 0, reason: 'it answered 500' }
  await recordOutcome(db, { delivery: first, attempt: attemptAt(11_000, 500), ...retry })
  const given = await findDelivery(db, { id: first.id, account: 'acme' })
  assert.deepEqual([given?.state, given?.reason, given?.attempts], ['failed', 'disabled', 1])
  await recordOutcome(db, delivered(first, 12_000))
  const taken = await findDelivery(db, { id: first.id, account: 'acme' })
  assert.deepEqual([taken?.state, taken?.reason, taken?.attempts], ['delivered', null, 2])
  assert.equal((await findAttempts(db, [first.id])).get(first.id)?.length, 2)
  assert.deepEqual(await takeAll(db, 1e9), [])
})

test('each attempt is recorded with its request and response', async ({ db }) => {
  const { first } = await addLane(db)
  const attempt = attemptAt(11_000, null)
  const reason = 'nothing listens at the address'
  await recordOutcome(db, { delivery: first, attempt, outcome: 'retry', nextAt: 0, reason })
  await recordOutcome(db, delivered(first, 12_000))
  const attempts = await findAttempts(db, [first.id, randomUUID()])
  assert.deepEqual(attempts.get(first.id), [
    { number: 1, ...attempt },
    { number: 2, ...attemptAt(12_000) },
  ])
})

test('only the newest attempts of a delivery are kept, with their numbers', async ({ db }) => {
  const { first } = await addLane(db)
  await addLane(db)
  const other = (await takeAll(db)).find(({ id }) => id !== first.id)!
  const retry = { outcome: 'retry' as const, nextAt: 0, reason: 'it answered 500' }
  const fail = (delivery: Delivery, at: number): AttemptResult => {
    return { delivery, attempt: attemptAt(at, 500), ...retry }
  }
  const count = KEPT_ATTEMPTS + 2
  await recordOutcome(db, fail(other, 1))
  for (let i = 0; i < count; i++) await recordOutcome(db, fail(first, i))
  const attempts = await findAttempts(db, [first.id, other.id])
  assert.deepEqual(
    attempts.get(first.id)?.map(({ number }) => number),
    Array.from({ length: KEPT_ATTEMPTS }, (_, i) => i + 3),
  )
  assert.equal(attempts.get(other.id)?.length, 1)
  assert.equal((await findDelivery(db, { id: first.id, account: 'acme' }))?.attempts, count)
})

test('deliveries in flight are not taken twice, and the limit is respected', async ({ db }) => {
  const endpointId = await addWebhook(db)
  for (const createdAt of [3000, 1000, 2000]) await addJob(db, { createdAt })
  const all = await takeAll(db)
  const take = async (limit: number, inFlight: string[] = []) => {
    const options = { endpointId, now: 10_000, limit, inFlight, leaseMs: 1000 }
    return (await leaseDueDeliveries(atTime(db, 10_000), options)).map(({ id }) => id)
  }
  const moments = all.map(({ createdAt }) => createdAt)
  assert.deepEqual(moments, moments.toSorted(), 'the oldest first')
  const ids = all.map(({ id }) => id)
  assert.deepEqual(await take(2), ids.slice(0, 2))
  assert.deepEqual(await take(3, [ids[0]!]), ids.slice(1))
})

test('deliveries of a disabled endpoint are not taken', async ({ db }) => {
  const { endpointId } = await addLane(db)
  const take = () =>
    leaseDueDeliveries(db, { endpointId, now: 10_000, limit: 1, inFlight: [], leaseMs: 1000 })
  await disableEndpoint(db, endpointId, { reason: 'gone', at: 1 })
  assert.deepEqual(await take(), [])
  await enableEndpoint(db, endpointId)
  assert.equal((await take()).length, 1)
})

test('a delivery goes to another sender when its lease ended or its owner is dead', async ({
  db,
}) => {
  const { first } = await addLane(db)
  const { endpointId } = first
  const next = { ...db, nodeId: 'next' }
  const take = async (by: Db, now: number) => {
    const options = { endpointId, now: 10_000, limit: 1, inFlight: [], leaseMs: 1000 }
    return (await leaseDueDeliveries(atTime(by, now), options))[0]
  }
  const held = (await take(db, 10_000))!
  assert.equal(await take(next, 11_000), undefined)
  await renewDeliveries(atTime(db, 10_500), [held.id], { leaseMs: 1000 })
  assert.equal(await take(next, 11_500), undefined)
  assert.equal(
    await findNextDueDelivery(atTime(next, 11_500), { endpointId, inFlight: [] }),
    undefined,
  )
  const taken = (await take(next, 11_501))!
  assert.equal(taken.id, held.id)
  await renewDeliveries(atTime(db, 20_000), [held.id], { leaseMs: 1000 })

  await recordOutcome(db, delivered(held))
  assert.equal((await findAttempts(db, [held.id])).get(held.id)?.length, 0, 'too late')
  assert.equal((await take(db, 11_502))?.id, held.id, 'the owner "next" has no row')
  await recordOutcome(db, delivered({ ...held, leaseEpoch: taken.leaseEpoch + 1 }))
  assert.equal((await findAttempts(db, [held.id])).get(held.id)?.length, 1)
})

test('an attempt of a deleted delivery leaves no rows', async ({ db }) => {
  const { first, jobId } = await addLane(db)
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id: jobId, account: 'acme' }))
  await recordOutcome(db, delivered(first))
  assert.deepEqual(await findAttempts(db, [first.id]), new Map([[first.id, []]]))
  assert.deepEqual(await db.sql.selectFrom('deliveries').selectAll().execute(), [])
})

test('deleting a job deletes its deliveries, attempts and bodies', async ({ db }) => {
  const { first, jobId } = await addLane(db)
  const kept = await endNewJob(db, { params, result: {} })
  await recordOutcome(db, delivered(first))
  const object = randomUUID()
  const change = db.sql.updateTable('deliveries').set({ body_object: object })
  await change.where('id', '=', first.id).execute()
  assert.deepEqual([...(await findKnownObjects(db, [object]))], [object])
  const deleted = await inTransaction(db, (tx) => {
    return deleteEndedJob(tx, { id: jobId, account: 'acme' })
  })
  assert.ok(deleted?.objects.includes(object))
  const left = await db.sql.selectFrom('deliveries').select('job_id').distinct().execute()
  assert.deepEqual(left, [{ job_id: kept }])
  assert.deepEqual(await db.sql.selectFrom('delivery_attempts').selectAll().execute(), [])
})

test('pending deliveries of an endpoint can be failed', async ({ db }) => {
  const { first, endpointId } = await addLane(db)
  const other = await addWebhook(db, { events: 'transcription.created' })
  await inTransaction(db, async (tx) => {
    for (let i = 0; i < 120; i++) await addJob({ ...db, ...tx }, { maxQueued: 1000 })
  })
  await recordOutcome(db, delivered(first))
  const givenUp = { reason: 'the webhook was removed', at: 12_000 }
  await failEndpointDeliveries(db, endpointId, givenUp)
  assert.equal((await takeAll(db, 1e9)).length, 241, 'it is not disabled')
  await disableEndpoint(db, endpointId, { reason: 'removed', at: 12_000 })
  await failEndpointDeliveries(db, endpointId, givenUp)
  const due = await takeAll(db, 1e9)
  assert.deepEqual(new Set(due.map(({ endpointId }) => endpointId)), new Set([other]))
  const failed = await db.sql.selectFrom('deliveries').selectAll().where('state', '=', 'failed')
  const reasons = (await failed.execute()).map(({ reason, ended_at }) => `${reason} ${ended_at}`)
  assert.equal(reasons.length, 121)
  assert.deepEqual(new Set(reasons), new Set(['the webhook was removed 12000']))
})

test('old ended deliveries are deleted with their attempts and bodies', async ({ db }) => {
  const { first } = await addLane(db)
  await recordOutcome(db, delivered(first, 11_000))
  const none = { deleted: 0, objects: [] }
  assert.deepEqual(await deleteOldDeliveries(db, { endedBefore: 11_005 }), none)
  const object = randomUUID()
  await db.sql.updateTable('deliveries').set({ body_object: object }).execute()
  assert.deepEqual(await deleteOldDeliveries(db, { endedBefore: 11_006 }), {
    deleted: 1,
    objects: [object],
  })
  assert.deepEqual(await deleteOldDeliveries(db, { endedBefore: 1e9 }), none, 'one waits still')
  assert.deepEqual(await findAttempts(db, [first.id]), new Map([[first.id, []]]))
  await assert.rejects(db.objects.check(object), { code: 'file_not_found' })
})

test('a due time that only a changed clock explains is corrected', async ({ db }) => {
  const { first } = await addLane(db)
  const retry = { outcome: 'retry' as const, nextAt: 90_000, reason: 'it answered 500' }
  await recordOutcome(db, { delivery: first, attempt: attemptAt(11_000, 500), ...retry })
  assert.equal(await correctDueTimes(db, { now: 12_000, latest: 90_000 }), 0)
  assert.equal(await correctDueTimes(db, { now: 12_000, latest: 89_999 }), 1)
  assert.equal((await takeAll(db, 12_000)).length, 1)
})

test('after the clock was turned back due times keep their delays', async ({ db }) => {
  for (let i = 0; i < 4; i++) await addDue(db, { endpoint: `ep_${i}`, nextAt: 1000 * i })
  await shiftDueTimes(db, { now: 500, by: 1600 })
  const rows = await db.sql.selectFrom('deliveries').select('next_at').orderBy('endpoint_id')
  const moments = (await rows.execute()).map(({ next_at }) => next_at)
  assert.deepEqual(moments, [0, 500, 500, 1400])
})

test('of many endpoints with due deliveries the earliest of each account are found', async ({
  db,
}) => {
  const flood = Array.from({ length: MAX_DUE_ENDPOINTS }, (_, i) => {
    return { account: 'flood', endpoint: `ep_${i}`, nextAt: i }
  })
  const late = { account: 'late', endpoint: 'ep_late', nextAt: 9000 }
  await inTransaction(db, (tx) => addDue(tx, ...flood, late))
  const found = await findDueEndpoints(db, { until: 9000 })
  assert.equal(found.length, MAX_DUE_ENDPOINTS)
  const ids = found.map(({ endpointId }) => endpointId)
  assert.ok(ids.includes('ep_late') && ids.includes('ep_0'))
  assert.ok(!ids.includes(`ep_${MAX_DUE_ENDPOINTS - 1}`), 'the latest of the longest list')
})

test('an endpoint is proven if its last delivery succeeded', async ({ db }) => {
  const { first } = await addLane(db)
  await recordOutcome(db, delivered(first))
  const find = async () => (await findDueEndpoints(db, { until: 1e9 }))[0]!
  assert.equal((await find()).isProven, true)
  const [second] = await takeAll(db, 1e9)
  const retry = { outcome: 'retry' as const, nextAt: 20_000, reason: 'it answered 500' }
  await recordOutcome(db, { delivery: second!, attempt: attemptAt(12_000, 500), ...retry })
  assert.equal((await find()).isProven, false)
})
