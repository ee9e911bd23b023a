import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../test/test-storage.ts'
import { countKeys, findKeyByHash, insertKey } from './keys.ts'

test('a key is found by its hash alone', async (t) => {
  const { db } = await openTestStorage(t)
  assert.equal(await countKeys(db), 0)
  const key = { hash: 'ab12', account: 'acme', prefix: 'steno_x', createdAt: 7 }
  await insertKey(db, key)
  assert.deepEqual(await findKeyByHash(db, 'ab12'), key)
  assert.equal(await findKeyByHash(db, 'ab1'), undefined)
  assert.equal(await countKeys(db), 1)
})
