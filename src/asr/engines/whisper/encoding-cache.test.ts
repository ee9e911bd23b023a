import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floats } from '../../onnx/onnx-runtime.ts'
import { createEncodingCache } from './encoding-cache.ts'

const featuresOf = (seed: number) => ({ data: Float32Array.of(seed, 1, 2), frames: 1 })
const pieceOf = (seed: number) => ({ 'key.0': floats(Float32Array.of(seed, 0), [1, 2]) })

test('a cached encoding is found by its features and returned once', () => {
  const kept = createEncodingCache(1000)
  const chunk = pieceOf(1)
  kept.keep(featuresOf(1), chunk)
  assert.equal(kept.take(featuresOf(2)), undefined)
  assert.equal(kept.take(featuresOf(1)), chunk)
  assert.equal(kept.take(featuresOf(1)), undefined)
})

test('the oldest encodings are evicted first, and oversized ones are not cached', () => {
  const kept = createEncodingCache(16)
  for (const seed of [1, 2, 3]) kept.keep(featuresOf(seed), pieceOf(seed))
  assert.equal(kept.take(featuresOf(1)), undefined)
  assert.ok(kept.take(featuresOf(2)))
  const large = { 'key.0': floats(new Float32Array(5), [5]) }
  kept.keep(featuresOf(4), large)
  assert.equal(kept.take(featuresOf(4)), undefined)
  assert.ok(kept.take(featuresOf(3)))
})
