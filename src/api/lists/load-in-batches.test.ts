import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadInBatches } from './load-in-batches.ts'

/** Loads items of these sizes and returns how many each batch has. */
async function batchesOf(sizes: readonly number[]): Promise<number[]> {
  const rows = sizes.map((bytes, id) => ({ id, bytes }))
  const batches: number[] = []
  const load = async (some: { id: number }[]) => {
    batches.push(some.length)
    return some.map(({ id }) => id)
  }
  const items = (await Array.fromAsync(loadInBatches(rows, load))).flat()
  assert.deepEqual(items, [...sizes.keys()])
  return batches
}

function times(count: number, bytes: number): number[] {
  return Array.from({ length: count }, () => bytes)
}

test('loadInBatches loads short items twenty at a time', async () => {
  assert.deepEqual(await batchesOf(times(45, 1000)), [20, 20, 5])
})

test('loadInBatches loads items one by one when each is longer than a batch', async () => {
  assert.deepEqual(await batchesOf(times(3, 1_000_000)), [1, 1, 1])
})

test('a batch has at most 256 KiB, unless its only item is longer', async () => {
  assert.deepEqual(await batchesOf(times(12, 50_000)), [5, 5, 2])
  assert.deepEqual(await batchesOf([1000, 1000, 1_000_000, 1000]), [2, 1, 1])
})

test('loadInBatches skips items that no longer exist', async () => {
  const rows = [0, 1, 2, 3, 4].map((id) => ({ id, bytes: 100_000 }))
  const load = async (some: { id: number }[]) => some.filter(({ id }) => id % 2 === 0)
  const items = (await Array.fromAsync(loadInBatches(rows, load))).flat()
  assert.deepEqual(
    items.map(({ id }) => id),
    [0, 2, 4],
  )
})
