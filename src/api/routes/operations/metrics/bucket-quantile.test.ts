import assert from 'node:assert/strict'
import test from 'node:test'
import { bucketsSince, quantileOf } from './bucket-quantile.ts'

/** Makes cumulative buckets of what each one counts alone. */
function buckets(...counts: [bound: number, alone: number][]) {
  let count = 0
  return counts.map(([bound, alone]) => {
    count += alone
    return { bound, count }
  })
}

test('a quantile is interpolated within its bucket', () => {
  assert.equal(quantileOf(buckets([1, 0], [2, 10], [4, 0]), 0.5), 1.5)
  assert.equal(quantileOf(buckets([1, 5], [2, 5]), 0.95), 1.9)
  assert.equal(quantileOf(buckets([4, 0], [1, 0]), 0.95), undefined)
  assert.equal(quantileOf([], 0.5), undefined)
})

test('a quantile in the unbounded bucket is the last finite bound', () => {
  assert.equal(quantileOf(buckets([1, 1], [Number.POSITIVE_INFINITY, 9]), 0.95), 1)
})

test('bucketsSince subtracts an earlier snapshot from the buckets', () => {
  const before = buckets([1, 5], [2, 5])
  const now = buckets([1, 5], [2, 7], [3, 1])
  assert.deepEqual(bucketsSince(now, before), buckets([1, 0], [2, 2], [3, 11]))
  assert.deepEqual(bucketsSince(now, []), now)
})
