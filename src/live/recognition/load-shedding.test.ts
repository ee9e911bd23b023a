import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsSpeculativeFinals, partialIntervals } from './load-shedding.ts'

test('partials come at their usual pace until two fifths of the machine are busy, then rarer', () => {
  assert.deepEqual([0, 0.4, 0.65, 0.9, 3].map(partialIntervals), [1, 1, 2.5, 4, 4])
})

test('a busy machine begins no final that may be in vain', () => {
  assert.deepEqual([0, 0.5, 0.7, 2].map(allowsSpeculativeFinals), [true, true, false, false])
})
