import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floatsOf } from '../../onnx/onnx-runtime.ts'
import { encoderMask, paddedWidth } from './caches.ts'

test('frames are padded to the blocks in which kernels add, and the padding is masked', () => {
  assert.deepEqual([1, 64, 65, 333].map(paddedWidth), [64, 64, 128, 384])
  const row = (frames: number) => ({ decoding: { frames, tokens: [] }, encoded: {}, caches: {} })
  const mask = floatsOf(encoderMask([row(3), row(128)], 128))
  assert.ok(mask.subarray(0, 3).every((value) => value === 0))
  assert.ok(mask.subarray(3, 128).every((value) => value < -1e8))
  assert.ok(mask.subarray(128).every((value) => value === 0))
})
