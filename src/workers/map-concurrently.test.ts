import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { mapConcurrently } from './map-concurrently.ts'

const { signal } = new AbortController()

test('mapConcurrently returns results in order and respects its limit', async () => {
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const begun: number[] = []
  const responses = mapConcurrently(
    [0, 1, 2, 3],
    async (i) => {
      begun.push(i)
      await gates[i]!.promise
      return i * 10
    },
    { limit: 2, signal },
  )
  await setImmediate()
  assert.deepEqual(begun, [0, 1])
  gates[1]!.resolve()
  await setImmediate()
  assert.deepEqual(begun, [0, 1, 2])
  for (const semaphore of gates) semaphore.resolve()
  assert.deepEqual(await responses, [0, 10, 20, 30])
})

test('mapConcurrently starts nothing after a failure and waits for running tasks', async () => {
  const begun: number[] = []
  let endedOther = false
  const responses = mapConcurrently(
    [0, 1, 2],
    async (i, signal) => {
      begun.push(i)
      if (i === 1) throw new Error('broken')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await setImmediate()
      endedOther = true
    },
    { limit: 2, signal },
  )
  await assert.rejects(responses, /^Error: broken$/)
  assert.ok(endedOther)
  assert.deepEqual(begun, [0, 1])
})

test('mapConcurrently rejects with the reason of an aborted signal', async () => {
  const abort = new AbortController()
  abort.abort(new Error('stopped'))
  const responses = mapConcurrently([1], async () => 1, { limit: 1, signal: abort.signal })
  await assert.rejects(responses, /stopped/)
})

test('mapConcurrently of no items returns an empty list', async () => {
  assert.deepEqual(await mapConcurrently([], async () => 1, { limit: 3, signal }), [])
})
