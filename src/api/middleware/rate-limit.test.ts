import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../../errors.ts'
import { createRateLimit } from './rate-limit.ts'

/**
 * Creates a limit whose clock stands still until it is set, and reports the outcome of a key's
 * request: ok, or the seconds to wait.
 */
function startLimit(perMinute: number, burst: number) {
  const clock = { ms: 5000 }
  const fullAt = new Map<string, number>()
  const take = createRateLimit({ perMinute, burst }, { now: () => clock.ms, fullAt })
  function request(key: string): 'ok' | number {
    try {
      take(key)
      return 'ok'
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'rate_limited')
      assert.match(error.message, / at once \(STENO_RATE_LIMIT\)$/)
      return error.retryAfter!
    }
  }
  const requestTimes = (key: string, count: number) =>
    Array.from({ length: count }, () => request(key))
  return { clock, fullAt, request, requestTimes }
}

test('each key may send a full bucket of requests at once', () => {
  const { request, requestTimes } = startLimit(600, 100)
  assert.ok(requestTimes('one', 100).every((outcome) => outcome === 'ok'))
  assert.equal(request('one'), 1)
  assert.equal(request('two'), 'ok')
})

test('requests pass at the configured rate, and refused ones consume no tokens', () => {
  const { clock, request, requestTimes } = startLimit(600, 3)
  requestTimes('key', 3)
  const outcomes = [99, 1, 99, 1].map((ms) => {
    clock.ms += ms
    return [request('key'), request('key')]
  })
  assert.deepEqual(outcomes, [
    [1, 1],
    ['ok', 1],
    [1, 1],
    ['ok', 1],
  ])
})

test('an idle bucket never fills beyond its capacity', () => {
  const { clock, request, requestTimes } = startLimit(600, 3)
  requestTimes('key', 3)
  clock.ms += 250
  assert.deepEqual(requestTimes('key', 3), ['ok', 'ok', 1])
  clock.ms += 3_600_000
  request('key')
  clock.ms += 200
  assert.deepEqual(requestTimes('key', 4), ['ok', 'ok', 'ok', 1])
})

test('the wait is a whole number of seconds, after which a token is available', () => {
  const { clock, request } = startLimit(4, 1)
  request('key')
  clock.ms += 500
  assert.equal(request('key'), 15)
  clock.ms += 14_000
  assert.equal(request('key'), 1)
  clock.ms += 1000
  assert.equal(request('key'), 'ok')
})

test('fractions of a millisecond consume no token', () => {
  const { clock, requestTimes, request } = startLimit(700, 100)
  clock.ms = 1_234_567.89
  assert.ok(requestTimes('key', 100).every((outcome) => outcome === 'ok'))
  assert.equal(request('key'), 1)
})

test('full buckets are removed from memory and others are kept', () => {
  const { clock, fullAt, request, requestTimes } = startLimit(600, 10)
  for (let i = 0; i < 1000; i++) request(`key ${i}`)
  assert.equal(fullAt.size, 1000)
  clock.ms += 500
  requestTimes('busy', 10)
  clock.ms += 500
  request('late')
  assert.deepEqual([...fullAt.keys()], ['busy', 'late'])
  assert.equal(request('busy'), 'ok')
})

test('beyond 10,000 keys the oldest buckets are removed', () => {
  const { fullAt, request } = startLimit(1, 5)
  for (let n = 0; n < 10_050; n++) request(`key-${n}`)
  assert.equal(fullAt.size, 10_000)
  assert.ok(!fullAt.has('key-49') && fullAt.has('key-50'))
})
