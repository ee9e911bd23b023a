import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { runAhead } from './run-ahead.ts'

/** Starts `runAhead` over items of these sizes; none ends before it is released. */
function start(sizes: readonly number[]) {
  const started: number[] = []
  const ends = sizes.map(() => Promise.withResolvers<void>())
  const outcomes = runAhead([...sizes.keys()], {
    bytesOf: (item) => sizes[item]!,
    async work(item) {
      started.push(item)
      await ends[item]!.promise
      if (item === 2) throw new Error('no')
      return item
    },
  })
  return { started, outcomes, end: (item: number) => ends[item]!.resolve() }
}

test('four large items run at a time, and outcomes are returned in order', async () => {
  const { started, outcomes, end } = start(Array(6).fill(Number.POSITIVE_INFINITY))
  const first = outcomes.next()
  await turn()
  assert.deepEqual(started, [0, 1, 2, 3])
  end(1)
  await turn()
  assert.deepEqual(started, [0, 1, 2, 3], 'the first one is awaited')
  end(0)
  assert.deepEqual((await first).value, { status: 'fulfilled', value: 0 })
  const second = outcomes.next()
  await turn()
  assert.deepEqual(started, [0, 1, 2, 3, 4])
  for (const item of [2, 3, 4, 5]) end(item)
  assert.deepEqual((await second).value, { status: 'fulfilled', value: 1 })
  const rest = []
  for await (const { status } of outcomes) rest.push(status)
  assert.deepEqual(rest, ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
})

test('more small items run at a time', async () => {
  const small = start(Array(30).fill(500_000))
  void small.outcomes.next()
  await turn()
  assert.equal(small.started.length, 24)
  const mixed = start([1000, 1000, 1000, 1000, 13_000_000, 1000])
  void mixed.outcomes.next()
  await turn()
  assert.deepEqual(mixed.started, [0, 1, 2, 3, 4])
})
