import assert from 'node:assert/strict'
import { failJob } from '../../../../src/storage/jobs/finish-job.ts'
import { findJobState, recordProgress } from '../../../../src/storage/jobs/queue/job-state.ts'
import { addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** The progress of running jobs. */
export const progressTests = createSuite()
const { test } = progressTests

test('progress exists only while the job is processed', async ({ db }) => {
  const id = (await addJob(db))!
  const find = (account = 'acme') => findJobState(db, { id, account, kind: 'pre-recorded' })
  assert.deepEqual(await find(), { status: 'queued', progress: undefined })
  const job = await claim(db)
  const progress = { stage: 'recognize', fraction: 0.5, secondsLeft: 12 }
  await recordProgress(db, job!.lease, progress)
  assert.deepEqual(await find(), { status: 'processing', progress })
  assert.equal(await find('other'), undefined)
  assert.equal(await findJobState(db, { id, account: 'acme', kind: 'live' }), undefined)
  await failJob(db, job!.lease, { failure: { code: 500, message: 'x' }, at: 1 })
  assert.deepEqual(await find(), { status: 'error', progress: undefined })
})
