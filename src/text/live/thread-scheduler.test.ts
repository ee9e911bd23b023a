import assert from 'node:assert/strict'
import test from 'node:test'
import { StepBudget } from './step-budget.ts'
import { ThreadScheduler } from './thread-scheduler.ts'

type Work = { account: string; rank: number; name: string }

function openTurns() {
  const clock = { now: 0 }
  const turns = new ThreadScheduler<Work>(() => clock.now)
  const add = (account: string, rank: number) => {
    const work = { account, rank, name: `${account}${rank}` }
    turns.add(work)
    return work
  }
  const takeAll = () => {
    const names: string[] = []
    for (let next = turns.take(); next; next = turns.take()) names.push(next.name)
    return names.join(' ')
  }
  return { turns, clock, add, takeAll }
}

test('a final of another account waits for one task of a busy account', () => {
  const { add, turns, takeAll } = openTurns()
  for (let i = 0; i < 1000; i++) add('a', 0)
  assert.equal(turns.take()!.name, 'a0')
  add('b', 0)
  assert.equal(turns.take()!.name, 'b0')
  assert.equal(takeAll().split(' ').length, 999)
})

test('the lowest rank runs first, across and within accounts', () => {
  const { add, takeAll } = openTurns()
  for (const rank of [2, 1, 0]) add('a', rank)
  for (const rank of [1, 0]) add('b', rank)
  assert.equal(takeAll(), 'a0 b0 a1 b1 a2')
})

test('an account above its share runs after others until the charge expires', () => {
  const { add, turns, clock, takeAll } = openTurns()
  turns.charge('a', 300)
  add('a', 0)
  add('b', 2)
  assert.equal(takeAll(), 'b2 a0')
  clock.now = 1000
  add('a', 0)
  add('b', 2)
  assert.equal(takeAll(), 'a0 b2')
})

test('removed tasks are not run, and all can be cleared', () => {
  const { add, turns, takeAll } = openTurns()
  const gone = add('a', 1)
  add('a', 0)
  turns.remove(gone)
  turns.remove(gone)
  assert.equal(takeAll(), 'a0')
  turns.remove(add('b', 3))
  assert.equal(turns.take(), undefined)
  add('a', 1)
  add('b', 0)
  assert.equal(turns.clear().length, 2)
  assert.equal(turns.take(), undefined)
})

test('a budget refills with time, and three long tasks are slow', () => {
  let now = 0
  const budget = new StepBudget(() => now)
  for (let i = 0; i < 3; i++) {
    assert.equal(budget.isSlow, false)
    budget.spend(21)
  }
  assert.equal(budget.isSlow, true)
  budget.spend(14_000)
  now += 10_000
  budget.spend(2500)
  assert.equal(budget.isSpent, false)
  budget.spend(4000)
  assert.equal(budget.isSpent, true)
})

test('one very long task is slow', () => {
  const budget = new StepBudget(() => 0)
  budget.spend(101)
  assert.equal(budget.isSlow, true)
})

test('short tasks never make a budget slow', () => {
  const budget = new StepBudget(() => 0)
  for (let i = 0; i < 100; i++) budget.spend(20)
  assert.deepEqual([budget.isSlow, budget.isSpent], [false, false])
})

test('tasks of an account can be removed selectively', () => {
  const { add, turns, takeAll } = openTurns()
  for (const rank of [0, 1, 1, 2]) add('a', rank)
  assert.equal(turns.removeAll('a', ({ rank }) => rank === 1).length, 2)
  assert.equal(turns.removeAll('b', () => true).length, 0)
  assert.equal(takeAll(), 'a0 a2')
})
