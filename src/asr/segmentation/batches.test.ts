import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Segment } from '../engines/recognizer.ts'
import { planBatches } from './batches.ts'

function segmentsOf(lengths: readonly number[]): Segment[] {
  let start = 0
  return lengths.map((length) => {
    const segment = { start, end: start + length }
    start += length + 10
    return segment
  })
}

test('planBatches includes every segment once', () => {
  const segments = segmentsOf(Array.from({ length: 131 }, (_, i) => 100 + ((i * 37) % 90)))
  const planned = planBatches(segments).flat()
  assert.deepEqual(
    planned.sort((a, b) => a.start - b.start),
    segments,
  )
})

test('a batch holds segments of similar length, in order of time', () => {
  const batches = planBatches(segmentsOf([10, 900, 11, 901, 12, 902, 13, 903]))
  assert.deepEqual(
    batches.map((batch) => batch.map(({ start, end }) => end - start)),
    [
      [900, 901, 902, 903],
      [10, 11, 12, 13],
    ],
  )
})
