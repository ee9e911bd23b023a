import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import { connectInProcess } from '../../../test/support/storage/databases/in-process-sqlite.ts'
import { makeFolder, openFolder } from '../../../test/support/storage/test-storage.ts'
import { inTransaction } from './db.ts'
import { runBatch, statement } from './statement.ts'

const add = statement<{ id: string }, { id: string }>(
  ({
    id,
  }) => sql`insert into sign_ins (hash, kind, key_hash, expires_at) values (${id}, 'x', ${id}, 1)
    returning hash as id`,
)

const find = statement<{ id: string; from: number }, { hash: string }, { from: boolean }>(
  ({ id, from }, _dialect, shape) =>
    sql`select hash from sign_ins where hash = ${id} ${shape.from ? sql`and expires_at >= ${from}` : sql``}`,
)

test('statements of a transaction are pipelined', async (t) => {
  const log: string[] = []
  const { db, close } = await openFolder(await makeFolder(t), {
    connect(options) {
      const connection = connectInProcess(options)
      return {
        ...connection,
        async run(...[sql, parameters, rest]) {
          if (sql.includes('sign_ins')) log.push('sent')
          const outcome = await connection.run(sql, parameters, rest)
          if (sql.includes('sign_ins')) log.push('ended')
          return outcome
        },
      }
    },
  })
  t.after(close)
  const ids = ['c', 'a', 'b']
  const added = await inTransaction(db, (tx) => Promise.all(ids.map((id) => add(tx, { id }))))
  assert.deepEqual(added.flat(), [{ id: 'c' }, { id: 'a' }, { id: 'b' }])
  assert.deepEqual(log, ['sent', 'sent', 'sent', 'ended', 'ended', 'ended'])
})

test('a failed statement rolls back its transaction', async (t) => {
  const { db, close } = await openFolder(await makeFolder(t))
  t.after(close)
  const failed = inTransaction(db, async (tx) => {
    await add(tx, { id: 'a' })
    await add(tx, { id: 'a' })
  })
  await assert.rejects(failed, /UNIQUE/)
  assert.deepEqual(await find(db, { id: 'a', from: 0 }, { from: false }), [])
})

test('a batch waits for the transaction that runs, and is not rolled back with it', async (t) => {
  const { db, close } = await openFolder(await makeFolder(t))
  t.after(close)
  let batch: Promise<unknown[][]> | undefined
  const failed = inTransaction(db, async (tx) => {
    await add(tx, { id: 'a' })
    batch = runBatch(db, [add.toQuery(db, { id: 'b' }), add.toQuery(db, { id: 'c' })])
    await add(tx, { id: 'a' })
  })
  await assert.rejects(failed, /UNIQUE/)
  assert.deepEqual(await batch, [[{ id: 'b' }], [{ id: 'c' }]])
  assert.deepEqual(await find(db, { id: 'a', from: 0 }, { from: false }), [])
  assert.deepEqual(await find(db, { id: 'b', from: 0 }, { from: false }), [{ hash: 'b' }])
})

test("a statement after SQLite's own rollback changes nothing", async (t) => {
  const { db, close } = await openFolder(await makeFolder(t))
  t.after(close)
  const failed = inTransaction(db, async (tx) => {
    // SQLite does this by itself when the disk is full.
    await sql`rollback`.execute(tx.sql)
    await add(tx, { id: 'a' })
  })
  await assert.rejects(failed, /the transaction has ended/)
  assert.deepEqual(await find(db, { id: 'a', from: 0 }, { from: false }), [])
})

test('each statement variant has its own SQL text', async (t) => {
  const { db, close } = await openFolder(await makeFolder(t))
  t.after(close)
  await add(db, { id: 'a' })
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await find(db, { id: 'a', from: 9 }, { from: false }), [{ hash: 'a' }])
    assert.deepEqual(await find(db, { id: 'a', from: 9 }, { from: true }), [])
    assert.deepEqual(await find(db, { id: 'a', from: 1 }, { from: true }), [{ hash: 'a' }])
  }
})
