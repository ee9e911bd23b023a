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
      return error.retryAfter!
    }
  }
  const requestTimes = (key: string, count: number) =>
    Array.from({ length: count }, () => request(key))
  return { clock, fullAt, request, requestTimes }
}

test('as many requests as the bucket holds are answered at once, of each key', () => {
  const { request, requestTimes } = startLimit(600, 100)
  assert.ok(requestTimes('one', 100).every((outcome) => outcome === 'ok'))
  assert.equal(request('one'), 1)
  assert.equal(request('two'), 'ok')
})

test('requests go on at the rate, and refused ones cost nothing', () => {
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

test('a bucket never holds more than it can, however long it is left alone', () => {
  const { clock, request, requestTimes } = startLimit(600, 3)
  requestTimes('key', 3)
  clock.ms += 250
  assert.deepEqual(requestTimes('key', 3), ['ok', 'ok', 1])
  clock.ms += 3_600_000
  request('key')
  clock.ms += 200
  assert.deepEqual(requestTimes('key', 4), ['ok', 'ok', 'ok', 1])
})

test('the seconds to wait are whole, and there is a token after them', () => {
  const { clock, request } = startLimit(4, 1)
  request('key')
  clock.ms += 500
  assert.equal(request('key'), 15)
  clock.ms += 14_000
  assert.equal(request('key'), 1)
  clock.ms += 1000
  assert.equal(request('key'), 'ok')
})

test('fractions of a millisecond take no token away', () => {
  const { clock, requestTimes, request } = startLimit(700, 100)
  clock.ms = 1_234_567.89
  assert.ok(requestTimes('key', 100).every((outcome) => outcome === 'ok'))
  assert.equal(request('key'), 1)
})

test('full buckets are forgotten, others are not', () => {
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

test('of very many keys those that came first are forgotten', () => {
  const { fullAt, request } = startLimit(1, 5)
  for (let n = 0; n < 10_050; n++) request(`key-${n}`)
  assert.equal(fullAt.size, 10_000)
  assert.ok(!fullAt.has('key-49') && fullAt.has('key-50'))
})
