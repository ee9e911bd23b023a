import assert from 'node:assert/strict'
import test from 'node:test'
import type { AttemptRecord, Delivery } from '../../storage/deliveries/deliveries.ts'
import { type Decision, decideRetry } from './decide-retry.ts'

const now = 1_000_000

function decisionOn(
  response: Partial<AttemptRecord>,
  delivery: Partial<Pick<Delivery, 'kind' | 'attemptsSinceQueued'>> = {},
): Decision {
  const noResponse = { status: null, error: null, responseHeaders: null, responseBody: null }
  const attempt = { at: 0, ms: 0, requestHeaders: {}, ...noResponse, ...response }
  const chance = { now, random: () => 0.5 }
  return decideRetry({ kind: 'callback', attemptsSinceQueued: 0, ...delivery }, attempt, chance)
}

test('only a 2xx status is a success', () => {
  for (const status of [200, 201, 204, 299]) {
    assert.deepEqual(decisionOn({ status }), { outcome: 'delivered' })
  }
  for (const status of [199, 300, 301, 304, 307, 400, 401, 404, 429, 500, 503]) {
    const reason = `the receiver responded with ${status}`
    assert.deepEqual(decisionOn({ status }), { outcome: 'retry', nextAt: now + 5000, reason })
  }
})

test('an attempt without a response is retried with its reason', () => {
  const reason = 'nothing listens at the address'
  assert.deepEqual(decisionOn({ error: reason }), { outcome: 'retry', nextAt: now + 5000, reason })
})

test('410 ends all deliveries of a callback, but only one of a webhook', () => {
  const gone = { outcome: 'failed', reason: 'gone' }
  assert.deepEqual(decisionOn({ status: 410 }), { ...gone, endsSequence: true })
  assert.deepEqual(decisionOn({ status: 410 }, { kind: 'live' }), { ...gone, endsSequence: true })
  assert.deepEqual(decisionOn({ status: 410 }, { kind: 'webhook' }), {
    ...gone,
    endsSequence: false,
  })
})

test('a failure after the last attempt ends the delivery', () => {
  const last = { outcome: 'failed', reason: 'the receiver responded with 500' }
  assert.equal(decisionOn({ status: 500 }, { attemptsSinceQueued: 6 }).outcome, 'retry')
  assert.deepEqual(decisionOn({ status: 500 }, { attemptsSinceQueued: 7 }), last)
  assert.equal(
    decisionOn({ status: 500 }, { kind: 'live', attemptsSinceQueued: 4 }).outcome,
    'retry',
  )
  assert.deepEqual(decisionOn({ status: 500 }, { kind: 'live', attemptsSinceQueued: 5 }), last)
})

test('Retry-After replaces the usual delay, not the number of attempts', () => {
  const retryAfter = { status: 503, responseHeaders: { 'retry-after': '77' } }
  const reason = 'the receiver responded with 503'
  assert.deepEqual(decisionOn(retryAfter), { outcome: 'retry', nextAt: now + 77_000, reason })
  assert.deepEqual(decisionOn(retryAfter, { attemptsSinceQueued: 7 }), {
    outcome: 'failed',
    reason,
  })
  const soon = { status: 503, responseHeaders: { 'retry-after': '1' } }
  const without = { status: 503 }
  assert.deepEqual(decisionOn(soon, { attemptsSinceQueued: 2 }), {
    outcome: 'retry',
    nextAt: now + 1000,
    reason,
  })
  assert.deepEqual(
    decisionOn(soon, { attemptsSinceQueued: 3 }),
    decisionOn(without, { attemptsSinceQueued: 3 }),
  )
})
