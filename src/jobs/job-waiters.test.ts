import assert from 'node:assert/strict'
import test from 'node:test'
import { addJob, claim } from '../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../test/support/storage/test-storage.ts'
import { finishJob } from '../storage/jobs/finish-job.ts'
import { JobWaiters } from './job-waiters.ts'

/** So long that only `look` can end a wait. */
const NEVER = 1_000_000
const signal = new AbortController().signal

test('a waiter resolves once the job has ended and check() is called', async (t) => {
  const { db } = await openTestStorage(t)
  const [id, other] = [(await addJob(db))!, (await addJob(db))!]
  const waiters = new JobWaiters({ db, pollMs: NEVER })
  let hasEnded = false
  const ended = waiters.ended(id, signal).then(() => {
    hasEnded = true
  })
  const leave = new AbortController()
  const still = waiters.ended(other, leave.signal)
  waiters.check()
  const { lease } = (await claim(db))!
  assert.equal(hasEnded, false)
  await finishJob(db, lease, { result: {}, at: 1 })
  waiters.check()
  await ended
  leave.abort(new Error('gone'))
  await assert.rejects(still, /gone/)
})

test('a job that is deleted or ended elsewhere is noticed by polling', async (t) => {
  const { db } = await openTestStorage(t)
  const waiters = new JobWaiters({ db, pollMs: 1 })
  await waiters.ended('4e7d6a3c-0b43-4a53-9c54-a0f0a0a0a0a0', signal)
  const id = (await addJob(db))!
  const ended = waiters.ended(id, signal)
  const { lease } = (await claim(db))!
  await finishJob(db, lease, { result: {}, at: 1 })
  await ended
})

test('a database failure rejects the waiters', async (t) => {
  const { db } = await openTestStorage(t)
  const id = (await addJob(db))!
  const waiters = new JobWaiters({ db, pollMs: NEVER })
  await db.sql.schema.dropTable('jobs').execute()
  await assert.rejects(waiters.ended(id, signal), /no such table/)
})
