import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitConcurrency } from './limit-concurrency.ts'

test('tasks of one name run in turn, other names beside them; a failure blocks none', async () => {
  const runInTurn = limitConcurrency()
  const seen: string[] = []
  const go = Promise.withResolvers<void>()
  const first = runInTurn('a', async () => {
    seen.push('a1')
    await go.promise
    throw new Error('a1 failed')
  })
  const second = runInTurn('a', async () => void seen.push('a2'))
  await runInTurn('b', async () => void seen.push('b1'))
  assert.deepEqual(seen, ['a1', 'b1'])
  go.resolve()
  await assert.rejects(first, /a1 failed/)
  await second
  assert.deepEqual(seen, ['a1', 'b1', 'a2'])
})

test('as many tasks of one name run concurrently as the limit allows', async () => {
  const runInTurn = limitConcurrency(2)
  const seen: number[] = []
  const go = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const all = go.map(({ promise }, i) => {
    return runInTurn('a', async () => {
      seen.push(i)
      await promise
    })
  })
  assert.deepEqual(seen, [0, 1])
  go[1]!.resolve()
  await all[1]
  assert.deepEqual(seen, [0, 1, 2])
  for (const { resolve } of go) resolve()
  await Promise.all(all)
  await runInTurn('a', async () => void seen.push(3))
  assert.deepEqual(seen, [0, 1, 2, 3])
})
