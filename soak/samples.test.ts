import assert from 'node:assert/strict'
import test from 'node:test'
import { describeSlopes, slopeOf } from './samples.ts'

test('the slope is that of the regression line through the points', () => {
  assert.equal(
    slopeOf([
      { x: 0, y: 5 },
      { x: 1, y: 7 },
      { x: 2, y: 9 },
    ]),
    2,
  )
  assert.equal(slopeOf([{ x: 3, y: 1 }]), 0)
})

test('describeSlopes reports the growth of the longest-lived process after its warm-up', () => {
  const minute = 60_000
  const samples = Array.from({ length: 11 }, (_, i) => {
    const pid = i < 2 ? 1 : 2
    return {
      pid,
      at: i * minute,
      rssMB: i < 5 ? 500 : 100 + i,
      heapMB: 50,
      handles: 20,
      folderMB: 1,
    }
  })
  const text = describeSlopes(samples)
  assert.match(
    text,
    /warm for 5 minutes: memory 105 to 110 MB \(60\.0 MB per hour\), heap 50 to 50 MB \(0\.0 MB per hour\), handles 20 to 20 \(0\.0/,
  )
  assert.match(describeSlopes(samples.slice(0, 9)), /no process lived long enough/)
})
