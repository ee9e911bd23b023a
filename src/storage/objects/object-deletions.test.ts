import assert from 'node:assert/strict'
import test from 'node:test'
import { captureLog } from '../../../test/support/server/captured-log.ts'
import { ObjectDeletions } from './object-deletions.ts'

/** A store that fails so many times, and its deletions. */
function open(failures: number, { pauseMs = 1 } = {}) {
  const deleted: string[] = []
  const { promise: isEmpty, resolve } = Promise.withResolvers<void>()
  const objects = {
    async delete(id: string) {
      if (failures-- > 0) throw new Error('away')
      if (deleted.push(id) === 3) resolve()
    },
  }
  const { log, lines } = captureLog()
  return { deleted, isEmpty, lines, deletions: new ObjectDeletions({ objects, log, pauseMs }) }
}

test('objects whose store is away are deleted when it is back', async () => {
  const { deletions, deleted, isEmpty, lines } = open(3)
  await deletions.delete(['a', 'b'])
  assert.deepEqual(deleted, [])
  // Waits behind those that failed.
  await deletions.delete(['c'])
  // Such a wait does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  await isEmpty
  clearInterval(alive)
  assert.deepEqual(deleted.sort(), ['a', 'b', 'c'])
  assert.match(lines.map(({ msg }) => msg).join(), /cannot delete objects yet/)
  await deletions.close()
})

test('after its signal aborts the caller does not wait, and the objects are deleted later', async () => {
  const { deletions, deleted, isEmpty } = open(0)
  await deletions.delete(['a', 'b', 'c'], { signal: AbortSignal.abort() })
  assert.deepEqual(deleted, [])
  const alive = setInterval(() => {}, 1000)
  await isEmpty
  clearInterval(alive)
  await deletions.close()
})

test('a stop ends the wait for the store', async () => {
  const { deletions, deleted } = open(1, { pauseMs: 1_000_000 })
  await deletions.delete(['a'])
  await deletions.close()
  await deletions.delete(['b'])
  assert.deepEqual(deleted, [])
})
