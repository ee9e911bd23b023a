import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serializeByKey } from './serialize-by-key.ts'

test('work of one name runs in turn, that of others beside it, and a failure holds up nothing', async () => {
  const inTurn = serializeByKey()
  const seen: string[] = []
  const go = Promise.withResolvers<void>()
  const first = inTurn('a', async () => {
    seen.push('a1')
    await go.promise
    throw new Error('a1 failed')
  })
  const second = inTurn('a', async () => void seen.push('a2'))
  await inTurn('b', async () => void seen.push('b1'))
  assert.deepEqual(seen, ['a1', 'b1'])
  go.resolve()
  await assert.rejects(first, /a1 failed/)
  await second
  assert.deepEqual(seen, ['a1', 'b1', 'a2'])
})
