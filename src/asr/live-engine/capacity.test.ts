import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capacityOf, joinCosts, measureCapacity } from './capacity.ts'

test('the capacity leaves nearly half of the cores free, but at least one session', () => {
  const small = { vad: 0.03, finals: 0.06, partials: 0.03 }
  assert.deepEqual(capacityOf(small, 2), { sessions: 8, weightWithoutPartials: 0.75 })
  const large = { vad: 0.1, finals: 0.9, partials: 2 }
  assert.equal(capacityOf(large, 1).sessions, 1)
})

test('joinCosts combines the costs measured by the processes', () => {
  const costs = joinCosts([{ vad: 0.01, finals: 0.06 }, { partial: 0.06 }], 1.2)
  assert.deepEqual([costs.finals, costs.partials], [0.06, 0.06 / 1.2])
  assert.ok(costs.vad > 0.02, 'a session takes more than its detector')
})

/** Measures these costs one after the other, until `mayRepeat` says otherwise. */
function measureAll(all: readonly number[], mayRepeat: () => boolean) {
  const left = all.map((cost) => ({ vad: cost, finals: cost, partials: 0.2 - cost }))
  return Array.fromAsync(
    measureCapacity({
      cores: 2,
      mayRepeat,
      signal: new AbortController().signal,
      measure: async () => left.shift()!,
      pausesMs: all.map(() => 0),
    }),
  )
}

test('the capacity uses the lowest of several measurements of each cost', async () => {
  const measured = await measureAll([0.1, 0.05, 0.07], () => true)
  assert.deepEqual(
    measured.map(({ finals, partials }) => [finals, partials]),
    [
      [0.1, 0.1],
      [0.05, 0.1],
      [0.05, 0.1],
    ],
  )
  assert.deepEqual(
    measured.map(({ sessions }) => sessions),
    [3, 5, 5],
  )
})

test('with sessions open, only the first measurement is made', async () => {
  assert.equal((await measureAll([0.1, 0.05], () => false)).length, 1)
})
