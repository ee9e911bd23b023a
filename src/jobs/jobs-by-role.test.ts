import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ACCOUNT, openService } from '../../test/support/jobs/test-service.ts'
import { makeFolder } from '../../test/support/storage/test-storage.ts'
import { findJob } from '../storage/jobs/jobs.ts'

test('without the worker role jobs are accepted, and run by another process', async (t) => {
  const folder = await makeFolder(t)
  const accepting = await openService(t, { folder, isShared: true, runsJobs: false })
  await accepting.jobs.start()
  assert.equal(accepting.jobs.runner, undefined)
  const id = await accepting.submit({ seconds: 1 })
  const status = async () => {
    return (await findJob(accepting.storage.db, { id, account: ACCOUNT }))?.status
  }
  assert.equal(await status(), 'queued')
  const worker = await openService(t, { folder, isShared: true })
  await worker.jobs.start()
  while ((await status()) !== 'done') await delay(5)
})
