import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floats, floatsOf } from '../../../onnx/onnx-runtime.ts'
import { DecoderBuffers } from './decoder-buffers.ts'
import {
  encoderMask,
  paddedWidth,
  rowOf,
  selectRows,
  toPastInputs,
  truncateCache,
} from './kv-cache.ts'

/** Two rows of two heads with three tokens of two numbers; each number encodes its place. */
function caches() {
  const data = Float32Array.from(
    [0, 1].flatMap((row) => [0, 1].flatMap((head) => cache(row, head))),
  )
  return { keys: floats(data, [2, 2, 3, 2]) }
}

function cache(row: number, head: number): number[] {
  return [0, 1, 2].flatMap((token) => [0, 1].map((i) => row * 1000 + head * 100 + token * 10 + i))
}

test('encoder frames are padded to whole blocks, and the padding is masked', () => {
  assert.deepEqual([1, 64, 65, 333].map(paddedWidth), [64, 64, 128, 384])
  const mask = floatsOf(encoderMask([3, 128], 128))
  assert.ok(mask.subarray(0, 3).every((value) => value === 0))
  assert.ok(mask.subarray(3, 128).every((value) => value < -1e8))
  assert.ok(mask.subarray(128).every((value) => value === 0))
})

test('truncateCache and rowOf copy only the requested row and tokens', () => {
  const { keys } = truncateCache(caches(), 2)
  assert.deepEqual(keys!.dims, [2, 2, 2, 2])
  const places = [0, 1].flatMap((row) => [0, 1].flatMap((head) => cache(row, head).slice(0, 4)))
  assert.deepEqual([...floatsOf(keys)], places)
  const second = [...cache(1, 0), ...cache(1, 1)]
  const kept = selectRows(caches(), [1])
  assert.deepEqual([kept.keys!.dims, ...floatsOf(kept.keys)], [[1, 2, 3, 2], ...second])
  const row = rowOf(caches(), 1)
  assert.deepEqual([row.keys!.dims, ...floatsOf(row.keys)], [[1, 2, 3, 2], ...second])
})

test('decoder outputs alternate between two buffers', () => {
  const dimensions = { layers: 1, heads: 2, headSize: 2, hidden: 4, alignmentHeads: 1 }
  const memory = new DecoderBuffers(dimensions)
  const call = { rows: 2, tokens: 1, width: 64 }
  const bufferOf = (past: number) => {
    const inputs = toPastInputs(memory.decoderOutputs({ ...call, past }))
    const tensor = inputs['past_key_values.0.decoder.key']
    assert.deepEqual(tensor!.dims, [2, 2, past + 1, 2])
    return floatsOf(tensor).buffer
  }
  const buffers = [0, 1, 2, 3].map(bufferOf)
  assert.notEqual(buffers[0], buffers[1])
  assert.equal(buffers[0], buffers[2])
  assert.equal(buffers[1], buffers[3])
})

test('encoder states are padded with zeros after a longer input', () => {
  const dimensions = { layers: 1, heads: 2, headSize: 2, hidden: 4, alignmentHeads: 1 }
  const memory = new DecoderBuffers(dimensions)
  memory.encoderStates(new Float32Array(8).fill(7), 2)
  assert.deepEqual(
    [...floatsOf(memory.encoderStates(new Float32Array(4).fill(5), 2))],
    [5, 5, 5, 5, 0, 0, 0, 0],
  )
})

test('gatherRows copies rows in any order, also twice', () => {
  const dimensions = { layers: 1, heads: 2, headSize: 2, hidden: 4, alignmentHeads: 1 }
  const memory = new DecoderBuffers(dimensions)
  const { keys } = memory.gatherRows(caches(), [1, 0, 1])
  assert.deepEqual(keys!.dims, [3, 2, 3, 2])
  const rows = [1, 0, 1].flatMap((row) => [...cache(row, 0), ...cache(row, 1)])
  assert.deepEqual([...floatsOf(keys)], rows)
})
