import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGapDetector } from './gap-detector.ts'

/** Silence before each frame of 0.5 s with the given time stamps. */
function silences(stamps: (number | undefined)[], duration = 100): number[] {
  const missingBefore = createGapDetector(duration)
  return stamps.map((stamp) => Math.round(missingBefore(stamp, 0.5) * 1000) / 1000)
}

test('contiguous frames need no silence, wherever the first one starts', () => {
  assert.deepEqual(silences([7, 7.5, 8]), [0, 0, 0])
})

test('missing audio is replaced with silence of its length', () => {
  assert.deepEqual(silences([0, 0.5, 3, 3.5, 6]), [0, 0, 2, 0, 2])
})

test('jitter is not a gap, but accumulated drift is', () => {
  assert.deepEqual(silences([0, 0.54, 1.02, 1.45, 2]), [0, 0, 0, 0, 0])
  assert.deepEqual(silences([0, 0.54, 1.08, 1.62]), [0, 0, 0, 0.12])
})

test('frames without a timestamp follow the previous one', () => {
  assert.deepEqual(silences([undefined, undefined, 1, undefined, 4]), [0, 0, 0, 0, 2])
})

test('after a timestamp that jumps back, time continues from there', () => {
  assert.deepEqual(silences([50, 50.5, 2, 2.5, 5]), [0, 0, 0, 0, 2])
})

test('a jump beyond the end of the recording is not a gap', () => {
  assert.deepEqual(silences([0, 0.5, 9000, 9000.5, 9003], 60), [0, 0, 0, 0, 2])
  assert.deepEqual(silences([0, 9000, 9055], 60), [0, 0, 54.5])
})
