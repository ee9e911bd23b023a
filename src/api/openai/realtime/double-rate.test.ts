import assert from 'node:assert/strict'
import test from 'node:test'
import { createRateDoubler } from './double-rate.ts'

test('samples are doubled by interpolation, also across chunks that split a sample', () => {
  const pcm = Buffer.from(Int16Array.of(100, 200, -400).buffer)
  const expected = [50, 100, 150, 200, -100, -400]
  for (let cut = 0; cut <= pcm.length; cut++) {
    const double = createRateDoubler()
    const bytes = Buffer.concat([double(pcm.subarray(0, cut)), double(pcm.subarray(cut))])
    const samples = Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readInt16LE(2 * i))
    assert.deepEqual(samples, expected)
  }
})
