import assert from 'node:assert/strict'
import test from 'node:test'
import { captureLog } from '../../../test/support/server/captured-log.ts'
import { ObjectDeletions } from './object-deletions.ts'

/** A store that fails so many times, and its deletions. */
function open(
  failures: number,
  { pauseMs = 1, findReferenced = async () => new Set<string>() } = {},
) {
  const deleted: string[] = []
  const { promise: isEmpty, resolve } = Promise.withResolvers<void>()
  const objects = {
    async delete(id: string) {
      if (failures-- > 0) throw new Error('away')
      if (deleted.push(id) === 3) resolve()
    },
  }
  const { log, lines } = captureLog()
  const deletions = new ObjectDeletions({ objects, findReferenced, log, pauseMs })
  return { deleted, isEmpty, lines, deletions }
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

test('objects of a deletion with an unknown outcome wait for the database', async () => {
  let isAway = true
  const findReferenced = async () => {
    if (!isAway) return new Set(['kept'])
    isAway = false
    throw new Error('away')
  }
  const { deletions, deleted, isEmpty } = open(0, { findReferenced })
  await deletions.deleteUnreferenced(['a', 'b', 'kept', 'c'])
  assert.deepEqual(deleted, [])
  const alive = setInterval(() => {}, 1000)
  await isEmpty
  clearInterval(alive)
  assert.deepEqual(deleted, ['a', 'b', 'c'])
  await deletions.close()
})

test('an object whose row is deleted late is deleted then', async () => {
  const answers = [['a'], []]
  const findReferenced = async () => new Set<string>(answers.shift())
  const { deletions, deleted, isEmpty } = open(0, { findReferenced })
  await deletions.deleteUnreferenced(['a', 'b', 'c'])
  assert.deepEqual(deleted, ['b', 'c'])
  const alive = setInterval(() => {}, 1000)
  await isEmpty
  clearInterval(alive)
  assert.deepEqual(deleted, ['b', 'c', 'a'])
  await deletions.close()
})
