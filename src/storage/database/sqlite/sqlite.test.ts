import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { sql } from 'kysely'
import { makeFolder, openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { countKeys, insertKey } from '../../accounts/keys.ts'
import { type Db, inTransaction } from '../db.ts'
import { openSqlite } from './sqlite.ts'

function addKey(db: Db, hash: string): Promise<void> {
  return insertKey(db, { hash, account: 'acme', prefix: 'sk_1', createdAt: 1 })
}

test('openSqlite syncs each commit and keeps committed data', async (t) => {
  const file = join(await makeFolder(t), 'steno.sqlite')
  const first = await openSqlite(file)
  const settings = await sql<{ synchronous: number }>`pragma synchronous`.execute(first)
  assert.equal(settings.rows[0]?.synchronous, 2, 'FULL')
  const pages = await sql<{ wal_autocheckpoint: number }>`pragma wal_autocheckpoint`.execute(first)
  assert.equal(pages.rows[0]?.wal_autocheckpoint, 4000)
  await first
    .insertInto('keys')
    .values({ hash: 'h', account: 'a', prefix: 'p', created_at: 1 })
    .execute()
  await first.destroy()
  const second = await openSqlite(file)
  t.after(() => second.destroy())
  assert.equal((await second.selectFrom('keys').selectAll().execute()).length, 1)
})

test('openSqlite rejects a database of a newer version unchanged', async (t) => {
  const file = join(await makeFolder(t), 'steno.sqlite')
  const newer = new DatabaseSync(file)
  newer.exec(
    'create table schema_version (version integer); insert into schema_version values (99)',
  )
  await assert.rejects(
    openSqlite(file),
    /it has version 99, this program supports version \d+; start the newer program/,
  )
  const tables = newer.prepare(`select name from sqlite_master where type = 'table'`).all()
  newer.close()
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['schema_version'],
  )
})

test('uncommitted changes are invisible to others, and writers wait', async (t) => {
  const { db } = await openTestStorage(t)
  const inside = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const transaction = inTransaction(db, async (tx) => {
    await addKey(tx, 'one')
    inside.resolve()
    await goOn.promise
    await addKey(tx, 'two')
    return countKeys(tx)
  })
  await inside.promise
  assert.equal(await countKeys(db), 0, 'not the one key of the half transaction')
  const other = addKey(db, 'three')
  goOn.resolve()
  assert.equal(await transaction, 2, 'the third key waited')
  await other
  assert.equal(await countKeys(db), 3)
})

test('a failed transaction is rolled back and reports its own error', async (t) => {
  const { db } = await openTestStorage(t)
  const failed = inTransaction(db, async (tx) => {
    await addKey(tx, 'one')
    // SQLite does this by itself when the disk is full.
    await sql`rollback`.execute(tx.sql)
    throw new Error('the disk is full')
  })
  await assert.rejects(failed, /^Error: the disk is full$/)
  assert.equal(await countKeys(db), 0)
})

test('a transaction holds the write lock from its start', async (t) => {
  const { db, folder } = await openTestStorage(t)
  const other = new DatabaseSync(join(folder, 'steno.sqlite'), { timeout: 0 })
  t.after(() => other.close())
  await inTransaction(db, async () => {
    assert.throws(() => other.exec('delete from keys'), /database is locked/)
  })
  other.exec('delete from keys')
})
