import assert from 'node:assert/strict'
import test from 'node:test'
import { addToCount } from './numbers.ts'

test('addToCount removes a count that falls to zero', () => {
  const counts = new Map<string, number>()
  for (const [key, change] of [
    ['a', 2],
    ['b', 1],
    ['a', -1],
    ['b', -1],
    ['c', -1],
  ] as const) {
    addToCount(counts, key, change)
  }
  assert.deepEqual([...counts], [['a', 1]])
})
