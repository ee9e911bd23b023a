import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import {
  countKeys,
  deleteKey,
  findKeyByHash,
  insertKey,
  listKeys,
  recordKeyUse,
  type StoredKey,
} from './keys.ts'

const key = { hash: 'ab12', account: 'acme', prefix: 'steno_x', createdAt: 7 }

test('a key is found by its hash and has the scopes read, write and live by default', async (t) => {
  const { db } = await openTestStorage(t)
  assert.equal(await countKeys(db), 0)
  await insertKey(db, key)
  const rest = { name: null, expiresAt: null, lastUsedAt: null }
  const stored = { ...key, ...rest, scopes: ['read', 'write', 'live'] }
  assert.deepEqual(await findKeyByHash(db, 'ab12'), stored)
  assert.equal(await findKeyByHash(db, 'ab1'), undefined)
  assert.equal(await countKeys(db), 1)
})

test('keys are listed by age with all their properties', async (t) => {
  const { db } = await openTestStorage(t)
  const young: StoredKey = {
    hash: 'cd34',
    account: 'other',
    prefix: 'steno_a',
    createdAt: 9,
    name: 'night job',
    scopes: ['read', 'live'],
    expiresAt: 99,
    lastUsedAt: null,
  }
  await insertKey(db, young)
  await insertKey(db, { ...key, hash: 'ef56', prefix: 'steno_z' })
  await insertKey(db, key)
  const listed = await listKeys(db)
  assert.deepEqual(
    listed.map(({ prefix }) => prefix),
    ['steno_x', 'steno_z', 'steno_a'],
  )
  assert.deepEqual(listed[2], young)
})

test('recording a use changes only the row of that key', async (t) => {
  const { db } = await openTestStorage(t)
  await insertKey(db, key)
  await insertKey(db, { ...key, hash: 'cd34' })
  await recordKeyUse(db, { hash: 'ab12', at: 50 })
  assert.equal((await findKeyByHash(db, 'ab12'))?.lastUsedAt, 50)
  assert.equal((await findKeyByHash(db, 'cd34'))?.lastUsedAt, null)
})

test('a key is deleted only by its complete prefix', async (t) => {
  const { db } = await openTestStorage(t)
  await insertKey(db, key)
  await insertKey(db, { ...key, hash: 'cd34', prefix: 'steno_y' })
  assert.equal(await deleteKey(db, 'steno_'), false)
  assert.equal(await deleteKey(db, 'steno_x'), true)
  assert.deepEqual(
    (await listKeys(db)).map(({ prefix }) => prefix),
    ['steno_y'],
  )
})
