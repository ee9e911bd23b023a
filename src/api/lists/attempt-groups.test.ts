import assert from 'node:assert/strict'
import test from 'node:test'
import { groupByAttempts } from './attempt-groups.ts'

/** Returns the number of attempts of the deliveries in each group. */
function groupsOf(...attempts: number[]): number[][] {
  const groups = [...groupByAttempts(attempts.map((count) => ({ attempts: count })))]
  return groups.map((group) => group.map((delivery) => delivery.attempts))
}

test('deliveries are grouped in order, up to fifty attempts per group', () => {
  assert.deepEqual(groupsOf(20, 30, 1, 49, 50, 2), [[20, 30], [1, 49], [50], [2]])
  assert.deepEqual(groupsOf(), [])
})

test('a delivery with thousands of attempts is loaded alone', () => {
  assert.deepEqual(groupsOf(1, 4000, 4000, 2), [[1], [4000], [4000], [2]])
})

test('deliveries without attempts are grouped by fifty', () => {
  assert.deepEqual(
    groupsOf(...Array(120).fill(0)).map((group) => group.length),
    [50, 50, 20],
  )
})
