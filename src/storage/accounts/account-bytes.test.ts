import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { addJob, claim } from '../../../test/support/jobs/test-jobs.ts'
import {
  makeFolder,
  openFolder,
  openTestStorage,
} from '../../../test/support/storage/test-storage.ts'
import { databaseFile } from '../data-folder/data-folder.ts'
import type { Db } from '../database/db.ts'
import { deleteEndedJob } from '../jobs/deletion/delete-job.ts'
import { finishJob } from '../jobs/finish-job.ts'
import { replacePostSessionMetadata } from '../jobs/jobs.ts'
import { deleteUnusedRecordings, insertRecording } from '../recordings/recordings.ts'
import { countStoredBytes, listKeyAccounts, measureOldResults } from './account-bytes.ts'

const account = 'acme'
const { signal } = new AbortController()

async function heldBy(db: Db, account: string): Promise<number> {
  return (await countStoredBytes(db, account)).accountBytes
}

function fileOf(account: string, size: number) {
  const names = { id: randomUUID(), account, filename: null, source: null, extension: 'wav' }
  return { ...names, size, duration: 1, channels: 1, createdAt: 1 }
}

test('a file counts while its row exists', async (t) => {
  const { db } = await openTestStorage(t)
  await insertRecording(db, fileOf('a', 1000))
  await insertRecording(db, fileOf('a', 500))
  await insertRecording(db, fileOf('b', 7))
  assert.deepEqual(await countStoredBytes(db, 'a'), {
    accountBytes: 1500,
    total: 1507,
    largest: 1500,
  })
  await deleteUnusedRecordings(db, { from: 0, to: 10 })
  assert.deepEqual(await countStoredBytes(db, 'a'), { accountBytes: 0, total: 0, largest: 0 })
})

/** Ends a job with a result and a redacted recording of `redacted` bytes. */
async function endJob(t: TestContext, result: string, redacted: number) {
  const { db } = await openTestStorage(t)
  await addJob(db)
  const job = (await claim(db))!
  const before = await heldBy(db, account)
  const redactedAudio = { object: randomUUID(), size: redacted }
  await finishJob(db, job.lease, { result, redactedAudio, at: Date.now() })
  return { db, id: job.id, before }
}

test('results count in rows and as objects, and so do redacted recordings', async (t) => {
  for (const length of [1000, 300_000]) {
    const { db, id, before } = await endJob(t, JSON.stringify('é'.repeat(length)), 44)
    assert.ok(before > 0, 'its parameters count')
    assert.equal((await heldBy(db, account)) - before, 2 * length + 2 + 44)
    await replacePostSessionMetadata(db, { id, account }, '{"note":"12345"}')
    assert.equal((await heldBy(db, account)) - before, 2 * length + 2 + 44 + 14)
    await deleteEndedJob(db, { id, account })
    assert.equal(await heldBy(db, account), 0)
  }
})

test('a rolled-back transaction counts no bytes', async (t) => {
  const { db } = await openTestStorage(t)
  const undone = db.sql.transaction().execute(async (sql) => {
    await insertRecording({ ...db, sql }, fileOf('a', 1000))
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.equal(await heldBy(db, 'a'), 0)
})

test('data of an earlier version is counted when its database is opened', async (t) => {
  const folder = await makeFolder(t)
  const earlier = await openFolder(folder)
  await insertRecording(earlier.db, fileOf('a', 1000))
  await addJob(earlier.db)
  const held = await heldBy(earlier.db, account)
  await earlier.close()
  undoMigration(folder)

  const storage = await openFolder(folder)
  t.after(() => storage.close())
  assert.deepEqual(await countStoredBytes(storage.db, 'a'), {
    accountBytes: 1000,
    total: 1000 + held,
    largest: 1000,
  })
  assert.equal(await heldBy(storage.db, account), held)
})

/** Reverts the database to version 7. */
function undoMigration(folder: string): void {
  const database = new DatabaseSync(databaseFile(folder))
  const triggers = ['new_file', 'old_file', 'new_job', 'old_job', 'job']
  for (const name of triggers) database.exec(`drop trigger bytes_of_${name}`)
  const events = ['new_job', 'job', 'old_job', 'delivery']
  for (const name of events) database.exec(`drop trigger event_of_${name}`)
  const searches = ['new', 'done', 'old']
  for (const name of searches) database.exec(`drop trigger search_${name}_job`)
  const indexes = ['utterance_terms', 'utterances', 'search_queue', 'search_languages']
  for (const name of indexes) database.exec(`drop table ${name}`)
  database.exec(
    'drop table events; alter table jobs drop column request_warnings; ' +
      'drop table sign_ins; drop table transcript_edits; drop table shares',
  )
  database.exec('drop table usage; drop table audit_log; alter table jobs drop column key_id')
  database.exec('drop table object_keys')
  database.exec('drop index jobs_zero_retention; alter table jobs drop column zero_retention')
  database.exec('alter table jobs drop column delivered_at')
  const leases = ['lease_owner', 'lease_epoch', 'lease_until']
  for (const column of leases) database.exec(`alter table deliveries drop column ${column}`)
  database.exec(`drop table owners; drop table account_bytes; alter table jobs drop column result_size;
    alter table jobs drop column storage_wait_since; update schema_version set version = 7`)
  database.close()
}

test('missing result sizes are measured from the store', async (t) => {
  const { db, before } = await endJob(t, JSON.stringify('x'.repeat(300_000)), 0)
  await db.sql.updateTable('jobs').set({ result_size: null }).execute()
  assert.equal(await heldBy(db, account), before)
  assert.equal(await measureOldResults(db, { signal }), 1)
  assert.equal((await heldBy(db, account)) - before, 300_002)
  assert.equal(await measureOldResults(db, { signal }), 0)
})

test('accounts with keys are listed once by name', async (t) => {
  const { db } = await openTestStorage(t)
  const key = { prefix: 'x', created_at: 1, name: null, expires_at: null, last_used_at: null }
  for (const [hash, account] of [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
  ] as const) {
    await db.sql
      .insertInto('keys')
      .values({ ...key, hash, account })
      .execute()
  }
  assert.deepEqual((await listKeyAccounts(db)).toSorted(), ['a', 'b'])
})
