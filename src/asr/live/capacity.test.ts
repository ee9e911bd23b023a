import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capacityOf, joinCosts } from './capacity.ts'

test('the capacity leaves two fifths of the cores free, and is never nothing', () => {
  const small = { listening: 0.03, finals: 0.06, partials: 0.03 }
  assert.deepEqual(capacityOf(small, 2), { sessions: 10, withoutPartials: 0.75 })
  const large = { listening: 0.1, finals: 0.9, partials: 2 }
  assert.equal(capacityOf(large, 1).sessions, 1)
})

test('the costs come from the processes that have the models', () => {
  const costs = joinCosts([{ listening: 0.01, finals: 0.06 }, { partial: 0.06 }], 1.2)
  assert.deepEqual([costs.finals, costs.partials], [0.06, 0.06 / 1.2])
  assert.ok(costs.listening > 0.02, 'a session takes more than its detector')
})
