import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionTimers } from './session-timers.ts'

test('an idle session ends after its time, but not because the server stood still', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended: string[] = []
  const timers = new SessionTimers((reason) => ended.push(reason))
  timers.set('idle', 30_000)
  t.mock.timers.tick(300_000) // The timers fire at once, before any socket is read.
  assert.deepEqual(ended, [])
  timers.set('idle', 30_000) // The audio that waited is read.
  for (let second = 0; second < 29; second++) t.mock.timers.tick(1000)
  assert.deepEqual(ended, [])
  t.mock.timers.tick(1000)
  assert.deepEqual(ended, ['idle'])
})
