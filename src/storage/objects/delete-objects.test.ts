import assert from 'node:assert/strict'
import test from 'node:test'
import { deleteLater, deleteObjects } from './delete-objects.ts'

/** A store that fails so many times. */
function openStore(failures: number) {
  const deleted: string[] = []
  return {
    deleted,
    async delete(id: string) {
      if (failures-- > 0) throw new Error('away')
      deleted.push(id)
    },
  }
}

test('what cannot be deleted is left, the object that failed last', async () => {
  const store = openStore(1)
  const errors: unknown[] = []
  const onFailure = (error: unknown) => errors.push(error)
  const left = await deleteObjects(store, ['a', 'b', 'c'], { onFailure })
  assert.deepEqual(left, ['b', 'c', 'a'])
  assert.match(String(errors), /^Error: away$/)
  assert.deepEqual(await deleteObjects(store, left), [])
  const signal = AbortSignal.abort()
  assert.deepEqual(await deleteObjects(store, left, { signal }), left)
})

test('objects are deleted when their store is back, unless the server stops', async () => {
  const store = openStore(3)
  const open = new AbortController()
  // Such a wait does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  await deleteLater(store, ['a', 'b'], { signal: open.signal, pauseMs: 1 })
  clearInterval(alive)
  assert.deepEqual(store.deleted.sort(), ['a', 'b'])
  await deleteLater(openStore(9), ['a'], { signal: AbortSignal.abort() })
})
