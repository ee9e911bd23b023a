import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Db } from '../../../src/storage/database/db.ts'
import { failJob, finishJob } from '../../../src/storage/jobs/finish-job.ts'
import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { recordProgress } from '../../../src/storage/jobs/queue/job-state.ts'
import {
  type Lease,
  releaseJob,
  renewLease,
  retryJob,
} from '../../../src/storage/jobs/queue/lease.ts'
import { addJob, atTime, claim, returnLost } from '../../support/jobs/test-jobs.ts'
import { createSuite } from './suite.ts'

/** Every write to a job under its lease. */
export const leaseTests = createSuite()
const { test } = leaseTests

async function claimNew(db: Db) {
  await addJob(db)
  const job = await claim(db)
  return job!
}

test('a finished job has its result and end time', async ({ db }) => {
  const { id, lease } = await claimNew(db)
  assert.equal(await finishJob(db, lease, { result: { words: 3 }, at: 9000 }), true)
  const job = await findJob(db, { id, account: 'acme' })
  const result = { text: '{"words":3}' }
  assert.deepEqual([job?.status, job?.completedAt, job?.result], ['done', 9000, result])
  assert.equal(await finishJob(db, lease, { result: { words: 4 }, at: 9001 }), false, 'only once')
})

test('a failed job has its failure in post_session_metadata', async ({ db }) => {
  const { id, lease } = await claimNew(db)
  const failure = { code: 404, message: 'Cannot find the audio' }
  assert.equal(await failJob(db, lease, { failure, at: 9000 }), true)
  const job = await findJob(db, { id, account: 'acme' })
  assert.deepEqual([job?.status, job?.errorCode, job?.completedAt], ['error', 404, 9000])
  assert.deepEqual(JSON.parse(job!.postSessionMetadata), { failure })
  assert.equal(job?.result, null)
})

test('a job never ends before its creation time', async ({ db }) => {
  await addJob(db, { createdAt: 5000 })
  const job = await claim(db)
  await finishJob(db, job!.lease, { result: {}, at: 4999 })
  assert.equal((await findJob(db, { id: job!.id, account: 'acme' }))?.completedAt, 5000)
})

test('a retry counts an attempt and waits, a release does not count', async ({ db }) => {
  const first = await claimNew(db)
  await retryJob(db, first.lease, { runAfter: 7000 })
  assert.equal(await claim(db, { now: 6999 }), undefined)
  const second = await claim(db, { now: 7000 })
  assert.deepEqual([second?.attempt, second?.lease.epoch], [2, 2])
  await releaseJob(db, second!.lease, { runAfter: 7000 })
  const third = await claim(db, { now: 7000 })
  assert.deepEqual([third?.attempt, third?.lease.epoch], [2, 3])
})

test('a lease renewed in time is not lost', async ({ db }) => {
  const job = await claimNew(db)
  assert.equal(await renewLease(atTime(db, 20_000), job.lease, { leaseMs: 30_000 }), true)
  assert.equal(await returnLost(db, { now: 49_999 }), 0)
  assert.equal(await returnLost(db, { now: 50_001 }), 1)
  assert.equal(await renewLease(db, job.lease, { leaseMs: 1 }), false)
})

/** Every write that a worker can make, and what a stale one must not do. */
const writes: ((db: Db, lease: Lease) => Promise<boolean | undefined>)[] = [
  (db, lease) => renewLease(db, lease, { leaseMs: 1 }),
  (db, lease) => finishJob(db, lease, { result: { stale: true }, at: 1 }),
  (db, lease) => failJob(db, lease, { failure: { code: 500, message: 'stale' }, at: 1 }),
  (db, lease) => retryJob(db, lease, { runAfter: 1 }),
  (db, lease) => releaseJob(db, lease, { runAfter: 1 }),
  async (db, lease) => {
    await recordProgress(db, lease, { stage: 'stale', fraction: 1, secondsLeft: 0 })
    return false
  },
]

test('a write with a stale epoch changes nothing', async ({ db }) => {
  const stale = await claimNew(db)
  await returnLost(db, { now: 100_000 })
  await claim(db, { now: 100_000 })
  const before = await db.sql.selectFrom('jobs').selectAll().execute()
  for (const write of writes) {
    assert.equal(await write(db, stale.lease), false)
    assert.deepEqual(await db.sql.selectFrom('jobs').selectAll().execute(), before)
  }
})

test('a long result with a stale epoch leaves no object', async ({ db }) => {
  const stale = await claimNew(db)
  await returnLost(db, { now: 100_000 })
  assert.equal(
    await finishJob(db, stale.lease, { result: { text: 'x'.repeat(300_000) }, at: 1 }),
    false,
  )
  for await (const ids of db.objects.list()) assert.deepEqual(ids, [])
})

type Step = { owner: number; act: 'claim' | 'renew' | 'finish' | 'fail' | 'retry' | 'expire' }

const step = fc.record<Step>({
  owner: fc.integer({ min: 0, max: 2 }),
  act: fc.constantFrom('claim', 'claim', 'renew', 'finish', 'fail', 'retry', 'expire'),
})

test('for any order of owners a job ends once under its newest epoch', async ({ db }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await db.sql.deleteFrom('jobs').execute()
      await addJob(db)
      const held = new Map<number, Lease>()
      const commits: number[] = []
      let now = 10_000
      let newest = 0
      for (const { owner, act } of steps) {
        const lease = held.get(owner)
        if (act === 'claim') {
          const job = await claim(db, { owner: String(owner), now, maxAttempts: 100 })
          if (!job) continue
          assert.equal(job.lease.epoch, newest + 1, 'each claim raises the epoch by one')
          newest = job.lease.epoch
          held.set(owner, job.lease)
        } else if (act === 'expire') {
          now += 40_000
          await returnLost(db, { now })
        } else if (lease) {
          const wrote = await perform(db, lease, { act, now })
          if (wrote) assert.equal(lease.epoch, newest, 'only the newest epoch writes')
          if (wrote && (act === 'finish' || act === 'fail')) commits.push(lease.epoch)
        }
      }
      assert.ok(commits.length <= 1, `committed by ${commits.join(' and ')}`)
    }),
    { numRuns: 150, seed: 20_240_601 },
  )
})

function perform(db: Db, lease: Lease, { act, now }: { act: Step['act']; now: number }) {
  switch (act) {
    case 'finish':
      return finishJob(db, lease, { result: { epoch: lease.epoch }, at: now })
    case 'fail':
      return failJob(db, lease, { failure: { code: 500, message: 'x' }, at: now })
    case 'retry':
      return retryJob(db, lease, { runAfter: now })
    default:
      return renewLease(atTime(db, now), lease, { leaseMs: 30_000 })
  }
}
