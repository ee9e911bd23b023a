import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRegions, scaleToUnitLength, slidingWindows } from './windows.ts'

const grid = { length: 24_000, hop: 12_000 }

test('sliding windows advance by the hop, and the last ends with the region', () => {
  assert.deepEqual(slidingWindows({ start: 500, end: 50_000 }, grid), [
    { start: 500, end: 24_500 },
    { start: 12_500, end: 36_500 },
    { start: 24_500, end: 48_500 },
    { start: 26_000, end: 50_000 },
  ])
  assert.deepEqual(slidingWindows({ start: 0, end: 36_000 }, grid), [
    { start: 0, end: 24_000 },
    { start: 12_000, end: 36_000 },
  ])
})

test('a region up to the window length is one window, below 0.1 s none', () => {
  for (const end of [1600, 24_000]) {
    assert.deepEqual(slidingWindows({ start: 0, end }, grid), [{ start: 0, end }])
  }
  assert.deepEqual(slidingWindows({ start: 0, end: 1599 }, grid), [])
})

test('regions outside the samples and invalid grids are rejected', () => {
  const regions = [{ start: 0, end: 10 }]
  checkRegions(10, { regions, grids: [grid] })
  for (const region of [
    { start: -1, end: 5 },
    { start: 0, end: 11 },
    { start: 6, end: 5 },
    { start: 0.5, end: 5 },
  ]) {
    assert.throws(() => checkRegions(10, { regions: [region], grids: [grid] }), RangeError)
  }
  for (const wrong of [
    { length: 1599, hop: 1 },
    { length: 24_000, hop: 0 },
    { length: 24_000, hop: 0.5 },
  ]) {
    assert.throws(() => checkRegions(10, { regions, grids: [wrong] }), RangeError)
  }
})

test('normalize scales to length 1 and rejects vectors without a length', () => {
  assert.deepEqual(
    [...scaleToUnitLength(Float32Array.of(3, 0, 4))],
    [...Float32Array.of(0.6, 0, 0.8)],
  )
  assert.throws(() => scaleToUnitLength(new Float32Array(3)), RangeError)
  assert.throws(() => scaleToUnitLength(Float32Array.of(1, Number.NaN)), RangeError)
})
