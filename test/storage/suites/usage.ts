import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AppError } from '../../../src/errors.ts'
import { readMonthUsage } from '../../../src/storage/accounts/usage/audio-quota.ts'
import { readMonthTokens } from '../../../src/storage/accounts/usage/month-tokens.ts'
import {
  reportUsage as sumAll,
  type UsageGroup,
} from '../../../src/storage/accounts/usage/usage-report.ts'
import { type Db, inTransaction } from '../../../src/storage/database/db.ts'
import { cancelRecordedJob } from '../../../src/storage/jobs/cancel-job.ts'
import { deleteEndedJob } from '../../../src/storage/jobs/deletion/delete-job.ts'
import { failJob, finishJob, type JobEnd } from '../../../src/storage/jobs/finish-job.ts'
import { createJobWriter } from '../../../src/storage/jobs/job-writer.ts'
import { insertJob } from '../../../src/storage/jobs/queue/insert-job.ts'
import { failOverdueJobs } from '../../../src/storage/jobs/queue/queue-maintenance.ts'
import { readResult, replaceResult } from '../../../src/storage/jobs/results.ts'
import { failLiveJob, finishLiveJob } from '../../../src/storage/live/live-jobs.ts'
import { addFile, addJob, claim } from '../../support/jobs/test-jobs.ts'
import { beginNewLiveJob, newLiveJob } from '../../support/live/sessions/test-live-jobs.ts'
import { createSuite } from './suite.ts'

/** What accounts used, and what they may use per month. */
export const usageTests = createSuite()
const { test } = usageTests

const account = 'acme'
const failure = { code: 500, message: 'x' }
const DAY = Date.UTC(2026, 0, 31)
const NOON = DAY + 43_200_000
const NEXT_DAY = DAY + 86_400_000
const llm = { requests: 1, prompt_tokens: 20, completion_tokens: 3 }

function sumUsage(db: Db, by: UsageGroup[] = [], given: { account?: string | undefined } = {}) {
  return sumAll(db, { account, from: 0, to: 9e15, by, ...given })
}

async function total(db: Db) {
  return (await sumUsage(db))[0]!
}

/** Queues a recording with a key, and claims it. */
async function begin(db: Db, given: { keyId?: string; params?: Record<string, unknown> } = {}) {
  const { keyId, params = {} } = given
  const file = { id: await addFile(db), filename: null, source: null }
  const fields = { account, createdAt: 1000, runAfter: 0, customMetadata: null, params, keyId }
  assert.ok(await insertJob(db, { id: randomUUID(), ...fields, file }, { maxQueued: 300 }))
  return (await claim(db))!
}

async function finish(db: Db, end: Partial<JobEnd> = {}, given = {}) {
  const { id, lease } = await begin(db, given)
  const usage = { audioSeconds: 1.000001, channelSeconds: 2.000002, llm }
  assert.ok(await finishJob(db, lease, { result: {}, usage, at: NOON, ...end }))
  return { id, lease }
}

test('usage is summed by day, key and kind', async ({ db }) => {
  const params = { subtitles: true, diarization: true, sentences: false, callback: true }
  await finish(db, {}, { keyId: 'st_a', params })
  await finish(db, {}, { keyId: 'st_a' })
  await finish(db, { at: NEXT_DAY }, { keyId: 'st_b', params: { subtitles: true } })
  const session = await beginNewLiveJob(db, {
    params: { realtime_processing: { sentiment_analysis: true } },
  })
  const file = { size: 10, duration: 4, channels: 2 }
  const columns = { result: '{}', result_object: null, result_size: null }
  assert.ok(await finishLiveJob(db, session.lease, { result: columns, file, llm, at: NOON }))
  const sums = await sumUsage(db, ['day', 'key', 'kind'])
  const one = { jobs: 1, failedJobs: 0, audioSeconds: 1.000001, channelSeconds: 2.000002, llm }
  assert.deepEqual(sums, [
    {
      day: DAY,
      key: null,
      kind: 'live',
      ...one,
      audioSeconds: 4,
      channelSeconds: 8,
      addOns: { sentiment_analysis: 1 },
    },
    {
      day: DAY,
      key: 'st_a',
      kind: 'pre-recorded',
      jobs: 2,
      failedJobs: 0,
      audioSeconds: 2.000002,
      channelSeconds: 4.000004,
      addOns: { subtitles: 1, diarization: 1 },
      llm: { requests: 2, prompt_tokens: 40, completion_tokens: 6 },
    },
    { day: NEXT_DAY, key: 'st_b', kind: 'pre-recorded', ...one, addOns: { subtitles: 1 } },
  ])
  const days = await sumAll(db, { account, from: NEXT_DAY, to: NEXT_DAY + 1, by: ['day'] })
  assert.deepEqual([days.length, days[0]!.day], [1, NEXT_DAY])
  assert.equal((await sumUsage(db, [], { account: 'other' }))[0]!.jobs, 0)
  assert.equal((await sumUsage(db, ['account'], { account: undefined }))[0]!.account, account)
})

test('a job is counted once, and stays counted when deleted', async ({ db }) => {
  const { id, lease } = await finish(db)
  const usage = { audioSeconds: 9, channelSeconds: 9 }
  assert.equal(await finishJob(db, lease, { result: {}, usage, at: NOON }), false)
  assert.equal((await total(db)).audioSeconds, 1.000001)
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id, account }))
  assert.equal((await total(db)).jobs, 1)
})

test('a rolled-back end counts no usage', async ({ db }) => {
  const { lease } = await begin(db)
  const usage = { audioSeconds: 9, channelSeconds: 9 }
  const undone = inTransaction(db, async (tx) => {
    await finishJob(tx, lease, { result: {}, usage, at: NOON })
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.equal((await total(db)).jobs, 0)
})

test('failed jobs are counted as such, and a failed session by its recording', async ({ db }) => {
  await failJob(db, (await begin(db)).lease, { failure, at: NOON })
  await cancelRecordedJob(db, { id: (await begin(db)).id, account }, { failure, at: NOON })
  await addJob(db, { runAfter: 1 })
  await addJob(db, { runAfter: 1, account: 'other' })
  await Array.fromAsync(failOverdueJobs(db, { since: 2, failure, at: NOON }))
  const { id } = await beginNewLiveJob(db)
  const file = { size: 10, duration: 4, channels: 2 }
  await failLiveJob(db, id, { failure, file, at: NOON })
  const { jobs, failedJobs, audioSeconds, channelSeconds } = await total(db)
  assert.deepEqual([jobs, failedJobs, audioSeconds, channelSeconds], [0, 4, 4, 8])
  assert.equal((await sumUsage(db, [], { account: 'other' }))[0]!.failedJobs, 1)
})

test('a retried add-on adds its tokens if its result is stored', async ({ db }) => {
  const { id } = await finish(db, { result: '{"first":1}' })
  const read = { jobId: id, stored: { text: '{"first":1}' } }
  assert.equal(await replaceResult(db, read, '{"second":1}', { llm }), true)
  assert.equal(await replaceResult(db, read, '{"third":1}', { llm }), false)
  assert.equal(await readResult(db, { text: '{"second":1}' }), '{"second":1}')
  const { jobs, llm: taken } = await total(db)
  assert.deepEqual([jobs, taken], [1, { requests: 2, prompt_tokens: 40, completion_tokens: 6 }])
})

test('monthly usage resets after the last day and includes jobs in progress', async ({ db }) => {
  await finish(db)
  const now = NOON + 1000
  const resetsAt = Date.UTC(2026, 1)
  assert.deepEqual(await readMonthUsage(db, { account, now }), {
    used: 2.000002,
    inProgress: 0,
    resetsAt,
  })
  await begin(db)
  assert.equal((await readMonthUsage(db, { account, now })).inProgress, 1, 'its length')
  await addJob(db)
  assert.equal((await readMonthUsage(db, { account, now })).inProgress, 601, 'of unknown length')
  await beginNewLiveJob(db, { createdAt: now - 5000 })
  assert.equal((await readMonthUsage(db, { account, now })).inProgress, 611, 'its age, twice')
  const next = await readMonthUsage(db, { account, now: NEXT_DAY })
  assert.deepEqual([next.used, next.resetsAt], [0, Date.UTC(2026, 2)])
})

test('concurrent requests do not exceed the monthly quota', async ({ db }) => {
  const create = createJobWriter(db)
  const submit = async (key: string, seconds: number) => {
    const file = { id: await addFile(db), filename: null, source: null }
    const fields = { account, createdAt: NOON, runAfter: 0, customMetadata: null, params: {} }
    const idempotency = { account, key, fingerprint: 'f' }
    const options = { maxQueued: 300, maxSecondsPerMonth: seconds, idempotency }
    return create({ id: randomUUID(), ...fields, file }, options)
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) => submit(`key ${i}`, 3)),
  )
  const refused = outcomes.filter((one) => one.status === 'rejected')
  assert.equal(refused.length, 2)
  const error = refused[0]!.reason as AppError
  assert.equal(error.code, 'quota_exceeded')
  assert.match(
    error.message,
    /used 0 s of the 3 s of this month, 3 s are in progress, this takes 1 s \(STENO_ACCOUNT_MAX_SECONDS_PER_MONTH\); the next month begins at 2026-02-01T00:00:00\.000Z$/,
  )
  const again = outcomes.findIndex((one) => one.status === 'rejected')
  assert.equal(await submit(`key ${again}`, 4), 'created', 'its key was not used up')
  const session = () => create(newLiveJob({ createdAt: NOON }), { maxQueued: 9, ...max })
  const max = { maxSecondsPerMonth: 4 }
  await assert.rejects(session(), { code: 'quota_exceeded' })
  max.maxSecondsPerMonth = 5
  assert.equal(await session(), 'created')
})

test('concurrent requests without a key do not exceed the monthly quota', async ({ db }) => {
  const create = createJobWriter(db)
  const submit = async () => {
    const file = { id: await addFile(db), filename: null, source: null }
    const fields = { account, createdAt: NOON, runAfter: 0, customMetadata: null, params: {} }
    const job = { id: randomUUID(), ...fields, file }
    return create(job, { maxQueued: 300, maxSecondsPerMonth: 3 })
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, submit))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
})

test('monthly tokens are summed, and open jobs are distinguished from ended ones', async ({
  db,
}) => {
  const { id: done } = await finish(db)
  await finish(db)
  const { id: running } = await begin(db)
  const jobs = [done, running, randomUUID()]
  const month = await readMonthTokens(db, { account, jobs, now: NOON })
  assert.deepEqual([month.used, [...month.active]], [46, [running]])
  assert.equal(month.resetsAt, Date.UTC(2026, 1))
  const next = await readMonthTokens(db, { account, jobs: [], now: NEXT_DAY })
  assert.deepEqual([next.used, next.active.size], [0, 0])
  assert.equal((await readMonthTokens(db, { account: 'other', jobs, now: NOON })).used, 0)
})
