import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Db, inTransaction } from '../../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../../src/storage/jobs/deletion/delete-job.ts'
import { finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import { findJob, findJobs } from '../../../../src/storage/jobs/jobs.ts'
import { MAX_INLINE_RESULT_BYTES, readResult } from '../../../../src/storage/jobs/results.ts'
import { findRecording } from '../../../../src/storage/recordings/recordings.ts'
import { addFile, addJob, claim, resultOf } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Reading and deleting jobs. */
export const jobTests = createSuite()
const { test } = jobTests

const account = 'acme'

async function addEndedJob(db: Db, { fileId, result = {} }: { fileId?: string; result?: object }) {
  await addJob(db, fileId ? { fileId } : {})
  const job = await claim(db)
  await finishJob(db, job!.lease, { result: { ...result }, at: 2000 })
  return job!.id
}

test('a job is found only by its own account and kind', async ({ db }) => {
  const id = (await addJob(db))!
  assert.equal((await findJob(db, { id, account }))?.id, id)
  assert.equal((await findJob(db, { id, account, kind: 'pre-recorded' }))?.id, id)
  assert.equal(await findJob(db, { id, account, kind: 'live' }), undefined)
  assert.equal(await findJob(db, { id, account: 'other' }), undefined)
  assert.equal(await findJob(db, { id: randomUUID(), account }), undefined)
})

test('a result is the same in its row or as an object', async ({ db }) => {
  for (const length of [10, MAX_INLINE_RESULT_BYTES]) {
    const result = { text: 'ü'.repeat(length) }
    const id = await addEndedJob(db, { result })
    const job = await findJob(db, { id, account })
    assert.deepEqual(await resultOf(db, job!), result)
  }
  const rows = await db.sql.selectFrom('jobs').select(['result', 'result_object']).execute()
  assert.equal(rows.filter(({ result }) => result === null).length, 1)
})

test('a long result being deleted reads as undefined', async ({ db }) => {
  const id = await addEndedJob(db, { result: { text: 'x'.repeat(MAX_INLINE_RESULT_BYTES) } })
  const row = await db.sql.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
  await db.objects.delete(row.result_object!)
  const job = await findJob(db, { id, account })
  assert.equal(await readResult(db, job!.result!), undefined)
})

test('only an ended job is deleted, by its own account and kind', async ({ db }) => {
  const id = (await addJob(db))!
  assert.equal(await deleteEndedJob(db, { id, account }), undefined)
  const job = await claim(db)
  assert.equal(await deleteEndedJob(db, { id, account }), undefined)
  await finishJob(db, job!.lease, { result: {}, at: 1 })
  assert.equal(await deleteEndedJob(db, { id, account: 'other' }), undefined)
  assert.equal(await deleteEndedJob(db, { id, account, kind: 'live' }), undefined)
  assert.ok(await deleteEndedJob(db, { id, account, kind: 'pre-recorded' }))
  assert.equal(await findJob(db, { id, account }), undefined)
  assert.equal(await deleteEndedJob(db, { id, account }), undefined)
})

test('an upload is deleted with its last job, a long result with its own', async ({ db }) => {
  const fileId = await addFile(db)
  const long = { text: 'x'.repeat(MAX_INLINE_RESULT_BYTES) }
  const first = await addEndedJob(db, { fileId, result: long })
  const second = await addEndedJob(db, { fileId })
  const remove = (id: string) => inTransaction(db, (tx) => deleteEndedJob(tx, { id, account }))

  const row = await db.sql
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', first)
    .executeTakeFirstOrThrow()
  assert.deepEqual((await remove(first))?.objects, [row.result_object])
  assert.ok(await findRecording(db, { id: fileId, account }))
  assert.deepEqual((await remove(second))?.objects, [fileId])
  assert.equal(await findRecording(db, { id: fileId, account }), undefined)
})

test('jobs are returned in the requested order without missing ones', async ({ db }) => {
  const first = (await addJob(db))!
  const second = (await addJob(db))!
  const foreign = (await addJob(db, { account: 'other' }))!
  const ids = [second, foreign, randomUUID(), first]
  const found = await findJobs(db, { ids, account })
  assert.deepEqual(
    found.map(({ id }) => id),
    [second, first],
  )
})
