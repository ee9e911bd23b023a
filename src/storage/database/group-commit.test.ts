import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { countKeys, insertKey } from '../accounts/keys.ts'
import type { Db } from './db.ts'
import { createGroupCommit } from './group-commit.ts'

async function addKey(tx: Db, hash: string): Promise<string> {
  await insertKey(tx, { hash, account: 'acme', prefix: 'sk_1', createdAt: 1 })
  return `stored ${hash}`
}

test('requests that arrive during a transaction share the next one and keep their order', async (t) => {
  const { db } = await openTestStorage(t)
  const transactions = new Map<Db, string[]>()
  const write = createGroupCommit(db, (tx, hash: string) => {
    transactions.set(tx, [...(transactions.get(tx) ?? []), hash])
    return addKey(tx, hash)
  })
  const written = await Promise.all(['a', 'b', 'c'].map(write))
  assert.deepEqual(written, ['stored a', 'stored b', 'stored c'])
  assert.deepEqual([...transactions.values()], [['a'], ['b', 'c']])
})

test('a request that fails leaves nothing and fails none of those beside it', async (t) => {
  const { db } = await openTestStorage(t)
  const write = createGroupCommit(db, async (tx, hash: string) => {
    await addKey(tx, hash)
    if (hash === 'bad') throw new Error('refused')
    return hash
  })
  const written = await Promise.allSettled(['a', 'b', 'bad', 'c'].map(write))
  assert.deepEqual(
    written.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal(await countKeys(db), 3)
  assert.equal(await write('later'), 'later', 'it goes on')
})
