import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { shareReads } from './share-reads.ts'

/** Reads that the test ends; each returns its number. */
function controlledReads() {
  const share = shareReads()
  const ends: PromiseWithResolvers<number>[] = []
  return {
    ends,
    read: (url: string, account = 'team') => {
      return share({ account, url }, () => {
        const end = Promise.withResolvers<number>()
        ends.push(end)
        return end.promise
      })
    },
  }
}

test('calls during a read share the next one, which begins when the read has ended', async () => {
  const { ends, read } = controlledReads()
  const results = [read('a'), read('a'), read('a')]
  assert.equal(ends.length, 1)
  ends[0]!.resolve(1)
  await setImmediate()
  assert.equal(ends.length, 2)
  // What came after the beginning of the second read does not share it.
  results.push(read('a'))
  ends[1]!.resolve(2)
  await setImmediate()
  ends[2]!.resolve(3)
  assert.deepEqual(await Promise.all(results), [1, 2, 2, 3])
})

test('reads of other addresses or accounts are neither shared nor delayed', async () => {
  const { ends, read } = controlledReads()
  const results = [read('a'), read('b'), read('a', 'others')]
  for (const [i, { resolve }] of ends.entries()) resolve(i)
  assert.deepEqual(await Promise.all(results), [0, 1, 2])
})

test('a call after the end of all reads reads again', async () => {
  const { ends, read } = controlledReads()
  const first = read('a')
  ends[0]!.resolve(1)
  assert.equal(await first, 1)
  await setImmediate()
  const second = read('a')
  ends[1]!.resolve(2)
  assert.equal(await second, 2)
})

test('a failed read fails only for the calls that shared it', async () => {
  const { ends, read } = controlledReads()
  const [first, second] = [read('a'), read('a')]
  ends[0]!.reject(new Error('lost'))
  await assert.rejects(first, /lost/)
  await setImmediate()
  ends[1]!.resolve(2)
  assert.equal(await second, 2)
})
