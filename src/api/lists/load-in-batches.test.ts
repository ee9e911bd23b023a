import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadInBatches } from './load-in-batches.ts'

/** Loads this many items of such a length and returns the size of each batch. */
async function batchesOf(count: number, length: number): Promise<number[]> {
  const ids = Array.from({ length: count }, (_, n) => n)
  const batches: number[] = []
  const load = async (some: number[]) => {
    batches.push(some.length)
    return some
  }
  const items = await Array.fromAsync(loadInBatches(ids, { load, lengthOf: () => length }))
  assert.deepEqual(items, ids)
  return batches
}

test('loads short items in batches that grow to twenty', async () => {
  assert.deepEqual(await batchesOf(60, 1000), [1, 2, 4, 8, 16, 20, 9])
})

test('loads items one by one where each is longer than a batch', async () => {
  assert.deepEqual(await batchesOf(5, 1_000_000), [1, 1, 1, 1, 1])
})

test('keeps batches at about 256 Ki characters', async () => {
  assert.deepEqual(await batchesOf(16, 50_000), [1, 2, 4, 8, 1])
  assert.deepEqual(await batchesOf(30, 50_000), [1, 2, 4, 8, 4, 8, 3])
})

test('goes on behind items that are gone', async () => {
  const load = async (ids: number[]) => ids.filter((id) => id % 2 === 0)
  const items = await Array.fromAsync(loadInBatches([0, 1, 2, 3, 4], { load, lengthOf: () => 1 }))
  assert.deepEqual(items, [0, 2, 4])
})
