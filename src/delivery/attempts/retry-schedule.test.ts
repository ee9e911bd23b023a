import assert from 'node:assert/strict'
import test from 'node:test'
import type { Delivery } from '../../storage/deliveries/deliveries.ts'
import { retryDelay } from './retry-schedule.ts'

/** Returns the seconds before each further attempt, until there is none. */
function secondsOf(kind: Delivery['kind'], random: number): number[] {
  const seconds: number[] = []
  for (let tries = 1; ; tries++) {
    const ms = retryDelay({ kind, attemptsSinceQueued: tries }, { random: () => random })
    if (ms === undefined) return seconds
    seconds.push(ms / 1000)
  }
}

test('callbacks and webhooks are retried seven times over most of a day', () => {
  const usual = [5, 30, 120, 600, 3600, 14_400, 43_200]
  assert.deepEqual(secondsOf('callback', 0.5), usual)
  assert.deepEqual(secondsOf('webhook', 0.5), usual)
})

test('messages of live sessions are retried five times within about a minute', () => {
  assert.deepEqual(secondsOf('live', 0.5), [1, 2, 5, 15, 30])
})

test('jitter scales a delay by 0.5 to 1.5', () => {
  assert.deepEqual(secondsOf('live', 0), [0.5, 1, 2.5, 7.5, 15])
  assert.deepEqual(secondsOf('live', 1), [1.5, 3, 7.5, 22.5, 45])
})
