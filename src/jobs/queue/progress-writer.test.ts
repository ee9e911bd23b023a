import assert from 'node:assert/strict'
import test from 'node:test'
import { addJob, claim } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { createLog } from '../../observability/log.ts'
import { findJobState } from '../../storage/jobs/queue/job-state.ts'
import { createProgressWriter } from './progress-writer.ts'

const progress = (fraction: number) => ({ stage: 'recognize', fraction, secondsLeft: null })

test('the newest progress is written once in an interval, and none after the end', async (t) => {
  const { db } = await openTestStorage(t)
  await addJob(db)
  const job = (await claim(db))!
  const find = async () => (await findJobState(db, job))?.progress?.fraction
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const log = createLog('silent')

  const short = createProgressWriter({ db, lease: job.lease, log })
  short.record(progress(0.1))
  await short.close()
  t.mock.timers.tick(1000)
  assert.equal(await find(), undefined, 'it ended within the interval')

  const writer = createProgressWriter({ db, lease: job.lease, log })
  writer.record(progress(0.2))
  writer.record(progress(0.3))
  t.mock.timers.tick(499)
  assert.equal(await find(), undefined)
  t.mock.timers.tick(1)
  writer.record(progress(0.4))
  await writer.close()
  assert.equal(await find(), 0.3)
})
