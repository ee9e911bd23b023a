import assert from 'node:assert/strict'
import test from 'node:test'
import { addJob, claim } from '../../../test/support/test-jobs.ts'
import { openTestStorage } from '../../../test/support/test-storage.ts'
import { failJob } from './lease.ts'
import { findProgress, recordProgress } from './progress.ts'

test('progress is there while somebody works on the job', async (t) => {
  const { db } = await openTestStorage(t)
  const id = (await addJob(db))!
  assert.equal(await findProgress(db, { id, account: 'acme' }), undefined)
  const job = await claim(db)
  const progress = { stage: 'recognize', fraction: 0.5, secondsLeft: 12 }
  await recordProgress(db, job!.lease, progress)
  assert.deepEqual(await findProgress(db, { id, account: 'acme' }), progress)
  assert.equal(await findProgress(db, { id, account: 'other' }), undefined)
  await failJob(db, job!.lease, { failure: { code: 500, message: 'x' }, at: 1 })
  assert.equal(await findProgress(db, { id, account: 'acme' }), undefined)
})
