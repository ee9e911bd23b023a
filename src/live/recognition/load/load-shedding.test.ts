import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsSpeculativeFinals, partialIntervalFactor } from './load-shedding.ts'

test('the partial interval grows once two fifths of the machine are busy', () => {
  assert.deepEqual([0, 0.4, 0.65, 0.9, 3].map(partialIntervalFactor), [1, 1, 2.5, 4, 4])
})

test('on a busy machine finals are not started speculatively', () => {
  assert.deepEqual([0, 0.5, 0.7, 2].map(allowsSpeculativeFinals), [true, true, false, false])
})
