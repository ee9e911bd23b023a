import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { findAttempts, findDelivery } from './delivery-log.ts'
import { insertTestDelivery, type TestDelivery } from './test-delivery.ts'

const attempt: TestDelivery['attempt'] = {
  at: 1000,
  ms: 20,
  status: 204,
  error: null,
  requestHeaders: { 'webhook-id': 'trial' },
  responseHeaders: { server: 'x' },
  responseBody: '',
}
const trial: TestDelivery = {
  id: 'trial',
  account: 'acme',
  endpointId: 'ep_1',
  event: 'webhook.test',
  url: 'https://a.example/',
  body: '{}',
  attempt,
  reason: null,
}

test('a test event is logged as an ended delivery without a job', async (t) => {
  const { db } = await openTestStorage(t)
  await insertTestDelivery(db, trial)
  await insertTestDelivery(db, { ...trial, id: 'other', reason: 'HTTP 500' })
  const { attempt: _, ...known } = trial
  assert.deepEqual(await findDelivery(db, { id: 'trial', account: 'acme' }), {
    ...known,
    jobId: null,
    seq: 0,
    kind: 'webhook',
    method: 'POST',
    bodyObject: null,
    state: 'delivered',
    attemptsSinceQueued: 1,
    attempts: 1,
    createdAt: 1000,
    nextAt: null,
    endedAt: 1020,
    leaseEpoch: 0,
  })
  const attempts = await findAttempts(db, ['trial'])
  assert.deepEqual(attempts.get('trial'), [{ ...attempt, number: 1 }])
  const other = await findDelivery(db, { id: 'other', account: 'acme' })
  assert.deepEqual([other?.state, other?.reason], ['failed', 'HTTP 500'])
})
