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
  function ask(key: string): 'ok' | number {
    try {
      take(key)
      return 'ok'
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'rate_limited')
      return error.retryAfter!
    }
  }
  const askTimes = (key: string, count: number) => Array.from({ length: count }, () => ask(key))
  return { clock, fullAt, ask, askTimes }
}

test('as many requests as the bucket holds are answered at once, of each key', () => {
  const { ask, askTimes } = startLimit(600, 100)
  assert.ok(askTimes('one', 100).every((outcome) => outcome === 'ok'))
  assert.equal(ask('one'), 1)
  assert.equal(ask('two'), 'ok')
})

test('requests go on at the rate, and refused ones cost nothing', () => {
  const { clock, ask, askTimes } = startLimit(600, 3)
  askTimes('key', 3)
  const outcomes = [99, 1, 99, 1].map((ms) => {
    clock.ms += ms
    return [ask('key'), ask('key')]
  })
  assert.deepEqual(outcomes, [
    [1, 1],
    ['ok', 1],
    [1, 1],
    ['ok', 1],
  ])
})

test('a bucket never holds more than it can, however long it is left alone', () => {
  const { clock, ask, askTimes } = startLimit(600, 3)
  askTimes('key', 3)
  clock.ms += 250
  assert.deepEqual(askTimes('key', 3), ['ok', 'ok', 1])
  clock.ms += 3_600_000
  ask('key')
  clock.ms += 200
  assert.deepEqual(askTimes('key', 4), ['ok', 'ok', 'ok', 1])
})

test('the seconds to wait are whole, and there is a token after them', () => {
  const { clock, ask } = startLimit(4, 1)
  ask('key')
  clock.ms += 500
  assert.equal(ask('key'), 15)
  clock.ms += 14_000
  assert.equal(ask('key'), 1)
  clock.ms += 1000
  assert.equal(ask('key'), 'ok')
})

test('fractions of a millisecond take no token away', () => {
  const { clock, askTimes, ask } = startLimit(700, 100)
  clock.ms = 1_234_567.89
  assert.ok(askTimes('key', 100).every((outcome) => outcome === 'ok'))
  assert.equal(ask('key'), 1)
})

test('full buckets are forgotten, others are not', () => {
  const { clock, fullAt, ask, askTimes } = startLimit(600, 10)
  for (let i = 0; i < 1000; i++) ask(`key ${i}`)
  assert.equal(fullAt.size, 1000)
  clock.ms += 500
  askTimes('busy', 10)
  clock.ms += 500
  ask('late')
  assert.deepEqual([...fullAt.keys()], ['busy', 'late'])
  assert.equal(ask('busy'), 'ok')
})

test('of very many keys those that came first are forgotten', () => {
  const { fullAt, ask } = startLimit(1, 5)
  for (let n = 0; n < 10_050; n++) ask(`key-${n}`)
  assert.equal(fullAt.size, 10_000)
  assert.ok(!fullAt.has('key-49') && fullAt.has('key-50'))
})
