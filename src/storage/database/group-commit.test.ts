import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { connectInProcess } from '../../../test/support/storage/databases/in-process-sqlite.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import {
  makeFolder,
  openFolder,
  openTestStorage,
} from '../../../test/support/storage/test-storage.ts'
import { countKeys, insertKey } from '../accounts/keys.ts'
import type { Db } from './db.ts'
import { createGroupCommit } from './group-commit.ts'
import { statement } from './statement.ts'

async function addKey(tx: Db, hash: string): Promise<string> {
  await insertKey(tx, { hash, account: 'acme', prefix: 'sk_1', createdAt: 1 })
  return `stored ${hash}`
}

test('requests that arrive during a transaction share the next one in order', async (t) => {
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

test('a failed request is rolled back without failing the others', async (t) => {
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

test('after a lost commit response requests are looked up before a retry', async (t) => {
  const { db } = await openTestStorage(t)
  const lossy = createLossyDatabase(db)
  const seen: string[] = []
  const findWritten = async (_: Db, hash: string) => {
    seen.push(hash)
    return hash === 'a' ? 'found a' : undefined
  }
  let tries = 0
  const write = createGroupCommit(
    lossy.db,
    // As if it had not been written with the first try.
    async (tx, hash: string) => (hash === 'b' && tries++ === 0 ? 'nothing' : addKey(tx, hash)),
    { findWritten },
  )
  const first = write('first')
  const others = ['a', 'b'].map(write)
  await first
  lossy.loseNext()
  assert.deepEqual(await Promise.all(others), ['found a', 'stored b'])
  assert.deepEqual(seen, ['a', 'b'])
})

test('after a lost commit response requests without lookup are rejected', async (t) => {
  const { db } = await openTestStorage(t)
  const lossy = createLossyDatabase(db)
  const write = createGroupCommit(lossy.db, addKey)
  const first = write('first')
  const others = ['a', 'b'].map(write)
  await first
  lossy.loseNext()
  for (const other of others) await assert.rejects(other, /Connection terminated/)
  assert.equal(await countKeys(db), 3)
})

test('requests that may overlap run concurrently, and a failure is isolated', async (t) => {
  const { db } = await openTestStorage(t)
  let left = 3
  const allBegun = Promise.withResolvers<void>()
  const write = createGroupCommit(
    db,
    async (tx, hash: string) => {
      if (hash !== 'first' && --left === 0) allBegun.resolve()
      // Never resolves if each waits for the one before.
      if (hash !== 'first') await allBegun.promise
      await addKey(tx, hash)
      if (hash === 'bad') throw new Error('refused')
      return hash
    },
    { mayOverlap: () => true },
  )
  const written = await Promise.allSettled(['first', 'a', 'bad', 'c'].map(write))
  assert.deepEqual(
    written.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['first', 'a', 'refused', 'c'],
  )
  assert.equal(await countKeys(db), 3)
})

const addSignIn = statement<{ hash: string }, unknown>(
  ({ hash }) => sql`insert into sign_ins (hash, kind, key_hash, expires_at)
    values (${hash}, 'x', ${hash}, 1)`,
)

test('batches are sent at once, two at a time, the second as large as the first', async (t) => {
  const sizes: number[] = []
  const { db, close } = await openFolder(await makeFolder(t), {
    connect(options) {
      const connection = connectInProcess(options)
      return {
        ...connection,
        runBatch(batch) {
          sizes.push(batch.length)
          return connection.runBatch(batch)
        },
      }
    },
  })
  t.after(close)
  const write = createGroupCommit(db, async () => 'written', {
    toBatch: (hash: string) => ({
      statements: [addSignIn.toQuery(db, { hash })],
      result: (rows) => `${hash}, rows of ${rows.length} statement`,
    }),
  })
  const [a, b, ...others] = ['a', 'b', 'c', 'd', 'e'].map(write)
  assert.equal(await a, 'a, rows of 1 statement')
  await b
  const later = ['f', 'g'].map(write)
  await Promise.all([...others, ...later])
  assert.deepEqual(sizes, [1, 1, 3, 2])
  assert.equal((await db.sql.selectFrom('sign_ins').select('hash').execute()).length, 7)
})

test('requests that a batch cannot write are written without it', async (t) => {
  const { db } = await openTestStorage(t)
  const write = createGroupCommit(
    db,
    async (tx, hash: string) => {
      if (hash === 'twice') throw new Error('refused')
      await addSignIn(tx, { hash })
      return 'written'
    },
    {
      toBatch(hash) {
        if (hash === 'none') return undefined
        const statement = addSignIn.toQuery(db, { hash })
        if (hash === 'open') return { statements: [], result: () => undefined }
        const statements = hash === 'twice' ? [statement, statement] : [statement]
        return { statements, result: () => 'batched' }
      },
    },
  )
  const hashes = ['a', 'none', 'b', 'c', 'twice', 'd', 'open']
  const written = await Promise.allSettled(hashes.map(write))
  assert.deepEqual(
    written.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['batched', 'written', 'batched', 'written', 'refused', 'written', 'written'],
  )
  assert.equal((await db.sql.selectFrom('sign_ins').select('hash').execute()).length, 6)
})

test('a transaction ends only after all of its requests', async (t) => {
  const { db } = await openTestStorage(t)
  const write = createGroupCommit(
    db,
    async (tx, hash: string) => {
      if (hash === 'bad') throw new Error('refused')
      for (const part of ['1', '2', '3']) await addSignIn(tx, { hash: hash + part })
      return hash
    },
    { mayOverlap: (hash) => hash !== 'b' },
  )
  // The first one has a transaction of its own.
  const written = await Promise.allSettled(['first', 'bad', 'a', 'b', 'c'].map(write))
  assert.deepEqual(
    written.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['first', 'refused', 'a', 'b', 'c'],
  )
  assert.equal((await db.sql.selectFrom('sign_ins').select('hash').execute()).length, 12)
})

test('a failed transaction has ended before the next one starts', async (t) => {
  const { db } = await openTestStorage(t)
  const running = new Map<Db, number>()
  const write = createGroupCommit(
    db,
    async (tx, hash: string) => {
      const others = [...running].filter(([one, count]) => one !== tx && count > 0)
      assert.equal(others.length, 0, hash)
      running.set(tx, (running.get(tx) ?? 0) + 1)
      try {
        if (hash === 'bad') throw new Error('refused')
        for (let i = 0; i < 20; i++) await nextTurn()
        await addKey(tx, hash)
      } finally {
        running.set(tx, running.get(tx)! - 1)
      }
      return hash
    },
    { mayOverlap: () => true },
  )
  const written = await Promise.allSettled(['first', 'bad', 'a'].map(write))
  assert.deepEqual(
    written.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['first', 'refused', 'a'],
  )
})

test('requests that must not overlap run one after the other', async (t) => {
  const { db } = await openTestStorage(t)
  let running = 0
  const write = createGroupCommit(
    db,
    async (tx, hash: string) => {
      assert.equal(running++, 0, hash)
      await addKey(tx, hash)
      running--
    },
    { mayOverlap: () => false },
  )
  await Promise.all(['a', 'b', 'c'].map(write))
})
