import assert from 'node:assert/strict'
import test from 'node:test'
import { addFile, addJob } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { inTransaction } from '../database/db.ts'
import { deleteUnusedRecordings, findRecording } from './recordings.ts'

test('a file is found only by its own account', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await addFile(db, { account: 'acme', createdAt: 7 })
  const found = await findRecording(db, { id, account: 'acme' })
  assert.equal(found?.filename, 'talk.wav')
  assert.equal(found.createdAt, 7)
  assert.equal(await findRecording(db, { id, account: 'other' }), undefined)
})

test('only unused files of the period are deleted', async (t) => {
  const { db } = await openTestStorage(t)
  const before = await addFile(db, { createdAt: 99 })
  const unused = await addFile(db, { createdAt: 100 })
  const used = await addFile(db, { createdAt: 150 })
  const after = await addFile(db, { createdAt: 200 })
  await addJob(db, { fileId: used })
  const deleted = await deleteUnusedRecordings(db, { from: 100, to: 200 })
  assert.deepEqual(deleted, { ids: [unused], to: 200 })
  const left = await db.sql.selectFrom('files').select('id').execute()
  assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([before, used, after]))
})

test('a long period is processed in parts without missing files', async (t) => {
  const { db } = await openTestStorage(t)
  await inTransaction(db, async (tx) => {
    for (let i = 0; i < 1100; i++) await addFile(tx, { createdAt: 1 + Math.floor(i / 10) })
  })
  let deleted = 0
  let parts = 0
  for (let from = 0; from < 500; parts++) {
    const { ids, to } = await deleteUnusedRecordings(db, { from, to: 500 })
    deleted += ids.length
    from = to
  }
  assert.deepEqual([deleted, parts], [1100, 2])
})
