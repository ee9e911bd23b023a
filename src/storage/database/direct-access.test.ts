import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { makeFolder, openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { countKeys, findKeyByHash, insertKey } from '../accounts/keys.ts'
import { openDirect } from './direct-access.ts'
import { statements as jobs } from './migrations/0001-jobs.ts'
import { lockFolder } from './sqlite/folder-lock.ts'

const key = { hash: 'ab12', account: 'acme', prefix: 'steno_x', createdAt: 7 }

async function open(t: TestContext, folder: string, create = false) {
  const db = await openDirect({ folder }, { create })
  t.after(() => db.close())
  return db
}

/** Creates a folder with the database of the first version, and a key in it. */
async function makeOldFolder(t: TestContext): Promise<string> {
  const folder = await makeFolder(t)
  const old = new DatabaseSync(join(folder, 'steno.sqlite'))
  for (const statement of jobs) old.exec(statement)
  old.exec('create table schema_version (version integer not null)')
  old.exec('insert into schema_version values (1)')
  old.exec(`insert into keys values ('ab12', 'acme', 'steno_x', 7)`)
  old.close()
  return folder
}

test('direct access reads and writes beside a running server', async (t) => {
  const { db, folder } = await openTestStorage(t)
  const beside = await open(t, folder)
  await insertKey(beside, key)
  assert.equal(await countKeys(db), 1)
})

test('a missing data folder is created only on request, and not left locked', async (t) => {
  const folder = join(await makeFolder(t), 'new/data')
  await assert.rejects(openDirect({ folder }, { create: false }), /Cannot find a database in /)
  assert.equal(await countKeys(await open(t, folder, true)), 0)
  lockFolder(folder).release()
})

test('direct access migrates an old database and gives its keys the usual scopes', async (t) => {
  const db = await open(t, await makeOldFolder(t))
  const rest = { name: null, expiresAt: null, lastUsedAt: null }
  const stored = { ...key, ...rest, scopes: ['read', 'write', 'live'] }
  assert.deepEqual(await findKeyByHash(db, key.hash), stored)
})

test('direct access does not migrate beside a server of another version', async (t) => {
  const folder = await makeOldFolder(t)
  const server = lockFolder(folder)
  t.after(() => server.release())
  await assert.rejects(open(t, folder), /Cannot open the database: it has version 1, /)
  const file = new DatabaseSync(join(folder, 'steno.sqlite'))
  t.after(() => file.close())
  assert.deepEqual({ ...file.prepare('select * from schema_version').get() }, { version: 1 })
})

test('direct access fails while a server creates its database', async (t) => {
  const folder = await makeFolder(t)
  const server = lockFolder(folder)
  t.after(() => server.release())
  await assert.rejects(open(t, folder, true), /another server is using/)
})

test('a data folder that cannot be created is reported with a remedy', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  await assert.rejects(
    openDirect({ folder: '/proc/steno/data' }, { create: true }),
    /^Error: Cannot create the data folder \/proc\/steno\/data: .*; set STENO_DATA_DIR to a folder/,
  )
})
