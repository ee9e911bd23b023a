import assert from 'node:assert/strict'
import test from 'node:test'
import type { PullState } from '../../../models/pull-queue.ts'
import { createModelEvents } from './model-events.ts'

test('model events report the progress and the outcome of a pull', () => {
  let pulls: PullState[] = [{ name: 'old', failure: 'no network' }]
  const read = createModelEvents(() => pulls)
  assert.deepEqual(read(), [], 'an earlier failure is not reported')
  pulls = [
    ...pulls,
    { name: 'a', progress: { fraction: 0.12345, secondsLeft: 9 } },
    { name: 'b', progress: { fraction: 0, secondsLeft: null } },
  ]
  assert.deepEqual(
    read().map((event) => JSON.parse(event)),
    [
      { name: 'a', status: 'pulling', fraction: 0.123, seconds_left: 9 },
      { name: 'b', status: 'pulling', fraction: 0, seconds_left: null },
    ],
  )
  assert.deepEqual(read(), [], 'nothing has changed')
  pulls = [{ name: 'b', failure: 'the disk is full' }]
  assert.deepEqual(
    read().map((event) => JSON.parse(event)),
    [
      { name: 'b', status: 'failed', message: 'the disk is full' },
      { name: 'a', status: 'installed' },
    ],
  )
  pulls = []
  assert.deepEqual(read(), [], 'a forgotten failure is not reported again')
})
