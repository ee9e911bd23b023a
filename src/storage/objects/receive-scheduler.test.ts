import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ReceiveScheduler } from './receive-scheduler.ts'

test('accounts take turns, two slices per turn of the event loop', async () => {
  const turns = new ReceiveScheduler()
  const handled: string[] = []
  const waiting = ['a', 'a', 'a', 'a', 'b'].map(async (account, n) => {
    await turns.next(account)
    handled.push(`${account}${n}`)
  })
  assert.deepEqual(handled, [])
  const seen: string[][] = []
  for (let i = 0; i < 3; i++) {
    await turn()
    seen.push(handled.splice(0))
  }
  assert.deepEqual(seen, [['a0', 'b4'], ['a1', 'a2'], ['a3']])
  await Promise.all(waiting)
})
