import assert from 'node:assert/strict'
import { finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import { findJob } from '../../../../src/storage/jobs/jobs.ts'
import {
  failExhaustedJobs,
  failOverdueJobs,
  findActivePreRecordedJobs,
  makeWaitingDue,
  readQueueState,
  requeueJobsOfDeadNodes,
} from '../../../../src/storage/jobs/queue/queue-maintenance.ts'
import { addJob, claim, returnLost } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Jobs that are returned, or fail without being claimed. */
export const queueMaintenanceTests = createSuite()
const { test } = queueMaintenanceTests

const failure = { code: 503, message: 'Cannot start the job in time' }

test('a new server reclaims jobs of an earlier one without using an attempt', async ({ db }) => {
  await addJob(db)
  const orphan = await claim(db, { now: 5000 })
  assert.equal(await requeueJobsOfDeadNodes(db, { now: 5001 }), 1)
  const again = await claim(db, { now: 5001 })
  assert.deepEqual([again?.id, again?.attempt, again?.lease.epoch], [orphan?.id, 1, 2])
})

test('a new server whose clock was turned back does not wait for old times', async ({ db }) => {
  await addJob(db, { runAfter: 900_000 })
  await makeWaitingDue(db, { now: 5000 })
  assert.ok(await claim(db, { now: 5000 }))
})

test('a job is lost only after its lease expired', async ({ db }) => {
  await addJob(db)
  await claim(db, { now: 5000, leaseMs: 1000 })
  assert.equal(await returnLost(db, { now: 6000 }), 0)
  const [job] = await findActivePreRecordedJobs(db)
  assert.equal(await returnLost(db, { now: 6001, running: [job!] }), 0)
  assert.equal(await returnLost(db, { now: 6001 }), 1)
})

test('a waiting job without attempts left fails, a running one does not', async ({ db }) => {
  const id = (await addJob(db))!
  await claim(db)
  assert.deepEqual(
    await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 1, failure, at: 8000 })),
    [[]],
  )
  await returnLost(db, { now: Number.MAX_SAFE_INTEGER })
  assert.deepEqual(
    await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 2, failure, at: 8000 })),
    [[]],
  )
  assert.deepEqual(
    await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 1, failure, at: 8000 })),
    [[id]],
  )
  const job = await findJob(db, { id, account: 'acme' })
  assert.deepEqual([job?.status, job?.errorCode, job?.completedAt], ['error', 503, 8000])
  assert.deepEqual(JSON.parse(job!.postSessionMetadata), { failure })
})

test('a job interrupted a hundred times is not started again and fails', async ({ db }) => {
  const id = (await addJob(db))!
  for (let server = 0; server < 99; server++) {
    await claim(db)
    await requeueJobsOfDeadNodes(db, { now: 5000 })
  }
  assert.deepEqual(
    await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 3, failure, at: 8000 })),
    [[]],
  )
  assert.equal((await claim(db))?.attempt, 1)
  await requeueJobsOfDeadNodes(db, { now: 5000 })
  assert.equal(await claim(db), undefined)
  assert.deepEqual(
    await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 3, failure, at: 8000 })),
    [[id]],
  )
})

test('an overdue job fails, counted from when it could run', async ({ db }) => {
  const late = await addJob(db, { runAfter: 999 })
  await addJob(db, { runAfter: 1000 })
  assert.deepEqual(await Array.fromAsync(failOverdueJobs(db, { since: 1000, failure, at: 8000 })), [
    [late],
  ])
})

test('active jobs are those waiting or running', async ({ db }) => {
  await addJob(db)
  const ended = await claim(db)
  await finishJob(db, ended!.lease, { result: {}, at: 1 })
  const running = await addJob(db)
  await claim(db)
  const waiting = await addJob(db)
  assert.deepEqual(new Set(await findActivePreRecordedJobs(db)), new Set([running, waiting]))
})

const stateOptions = { now: 100, maxAttempts: 3, running: [] }
const emptyState = {
  dueJobs: 0,
  nextDue: undefined,
  oldestDue: undefined,
  hasAbandoned: false,
  hasExhausted: false,
}

test('the state of the queue counts due jobs and says when the next one is due', async ({ db }) => {
  assert.deepEqual(await readQueueState(db, stateOptions), emptyState)
  for (const runAfter of [50, 100, 170, 130]) await addJob(db, { runAfter })
  const expected = { ...emptyState, dueJobs: 2, nextDue: 130, oldestDue: 50 }
  assert.deepEqual(await readQueueState(db, stateOptions), expected)
})

test('the state of the queue reports jobs without an owner and expired leases', async ({ db }) => {
  const isAbandoned = async (running: readonly string[] = []) => {
    return (await readQueueState(db, { ...stateOptions, running })).hasAbandoned
  }
  const id = await addJob(db)
  await claim(db, { now: Date.now(), leaseMs: 900_000 })
  assert.equal(await isAbandoned(), true, 'its owner is not there')
  await db.sql.updateTable('jobs').set({ lease_owner: db.nodeId }).execute()
  assert.equal(await isAbandoned(), false)
  await db.sql.updateTable('jobs').set({ lease_until: 1 }).execute()
  assert.deepEqual([await isAbandoned(), await isAbandoned([id!])], [true, false])
})

test('the state of the queue reports jobs that cannot be claimed again', async ({ db }) => {
  await addJob(db)
  const isExhausted = async () => (await readQueueState(db, stateOptions)).hasExhausted
  await db.sql.updateTable('jobs').set({ attempt: 2, interruptions: 99 }).execute()
  assert.equal(await isExhausted(), false)
  await db.sql.updateTable('jobs').set({ attempt: 3 }).execute()
  assert.equal(await isExhausted(), true)
  await db.sql.updateTable('jobs').set({ attempt: 0, interruptions: 100 }).execute()
  assert.equal(await isExhausted(), true)
})
