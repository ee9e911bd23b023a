import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { LookupScheduler } from './lookup-scheduler.ts'

/** Requests `count` turns of an account, which last until `end`; counts how many have begun. */
function hold(turns: LookupScheduler, account: string, count: number, timeoutMs = 60_000) {
  const end = Promise.withResolvers<void>()
  const state = { begun: 0, refused: 0, end: end.resolve, all: Promise.resolve<unknown>(null) }
  state.all = Promise.all(
    Array.from({ length: count }, () =>
      turns
        .run(account, timeoutMs, () => {
          state.begun++
          return end.promise
        })
        .catch(() => state.refused++),
    ),
  )
  return state
}

test('each account has a share of the lookups', async () => {
  const turns = new LookupScheduler()
  const attacker = hold(turns, 'attacker', 100)
  const other = hold(turns, 'other', 10)
  await turn()
  assert.deepEqual([attacker.begun, other.begun], [16, 10])
  attacker.end()
  await attacker.all
  assert.equal(attacker.begun, 100)
  other.end()
  await other.all
  assert.equal(turns.size, 0)
})

test('a lookup that waits too long or behind too many is rejected', async () => {
  const turns = new LookupScheduler()
  const attacker = hold(turns, 'attacker', 16 + 200 + 5)
  await turn()
  assert.equal(attacker.refused, 5)
  await assert.rejects(
    new LookupScheduler().run('a', 0, () => Promise.reject(new Error('x'))),
    /x/,
  )
  const hurried = new LookupScheduler()
  const slow = hold(hurried, 'a', 16)
  const late = hold(hurried, 'a', 1, 1)
  await late.all
  assert.deepEqual([late.begun, late.refused], [0, 1])
  slow.end()
  attacker.end()
  await Promise.all([slow.all, attacker.all])
})

test('waiting accounts take turns when all lookups are in use', async () => {
  const turns = new LookupScheduler()
  const holders = Array.from({ length: 16 }, (_, i) => hold(turns, `holder-${i}`, 16))
  const begun: string[] = []
  const waiting = ['a', 'a', 'a', 'b'].map((account) =>
    turns.run(account, 60_000, async () => void begun.push(account)),
  )
  await turn()
  assert.deepEqual(begun, [])
  for (const { end } of holders) end()
  await Promise.all(waiting)
  assert.deepEqual(begun.slice(0, 2), ['a', 'b'])
})
