import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Db, inTransaction } from '../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../src/storage/jobs/deletion/delete-job.ts'
import { deleteExpiredJobs } from '../../../src/storage/jobs/deletion/retention.ts'
import { createJobWriter, findByIdempotencyKey } from '../../../src/storage/jobs/job-writer.ts'
import { findJob, type JobRef, replacePostSessionMetadata } from '../../../src/storage/jobs/jobs.ts'
import { listJobs } from '../../../src/storage/jobs/lists/job-lists.ts'
import { renewLease } from '../../../src/storage/jobs/queue/lease.ts'
import {
  failExhaustedJobs,
  failOverdueJobs,
  findActivePreRecordedJobs,
  readQueueState,
  requeueJobsOfDeadNodes,
} from '../../../src/storage/jobs/queue/queue-maintenance.ts'
import {
  beginLiveJob,
  failLiveJob,
  findLiveJobByToken,
  findLiveOwner,
  finishLiveJob,
  type LiveEnd,
  listOpenLiveJobs,
  releaseLiveJob,
} from '../../../src/storage/live/live-jobs.ts'
import { deleteExpiredTokens, findLiveSession } from '../../../src/storage/live/session-tokens.ts'
import {
  deleteUnusedRecordings,
  findRecording,
} from '../../../src/storage/recordings/recordings.ts'
import { addFile, addJob, claim, returnLost } from '../../support/jobs/test-jobs.ts'
import {
  addLiveJob,
  beginNewLiveJob,
  newLiveJob,
} from '../../support/live/sessions/test-live-jobs.ts'
import { createSuite } from './suite.ts'

/** The jobs and tokens of live sessions. */
export const liveJobTests = createSuite()
const { test } = liveJobTests

const account = 'acme'
const DAY_MS = 86_400_000
const failure = { code: 408, message: 'Cannot wait longer for a connection' }
const end: LiveEnd = {
  result: { result: '{"done":1}', result_object: null, result_size: null },
  file: { size: 44, duration: 2.5, channels: 2 },
  at: 9000,
}

/** Returns every row of a table, to check that nothing changes. */
function rows(db: Db, table: 'jobs' | 'live_sessions') {
  return db.sql.selectFrom(table).selectAll().execute()
}

function remove(db: Db, job: JobRef) {
  return inTransaction(db, (tx) => deleteEndedJob(tx, job))
}

test('a queued live job shows its channels and no duration', async ({ db }) => {
  const { id, token } = await addLiveJob(db, { customMetadata: { room: 42 } })
  const job = await findJob(db, { id, account, kind: 'live' })
  assert.ok(job?.file)
  assert.match(job.file.id, /^[0-9a-f-]{36}$/)
  const { id: _, ...file } = job.file
  assert.deepEqual(file, { filename: null, source: null, duration: null, channels: 2 })
  assert.deepEqual([job.status, job.customMetadata], ['queued', '{"room":42}'])
  assert.equal(await findRecording(db, { id: job.file.id, account }), undefined)
  assert.deepEqual(await findLiveSession(db, id), { id, createdAt: 1000, token })
  assert.equal(await findLiveSession(db, randomUUID()), undefined)
  const metadata = { room: '42' }
  const page = { offset: 0, limit: 9 }
  const found = await listJobs(db, { account, kinds: ['live'], metadata }, page)
  const texts = [job.customMetadata, job.postSessionMetadata, job.requestParams]
  const bytes = Buffer.byteLength(texts.join(''))
  assert.deepEqual(found.rows, [{ createdAt: 1000, id, bytes, job: undefined }])
})

test('created_at increases across both kinds and is known to the session', async ({ db }) => {
  await addJob(db, { createdAt: 5000 })
  const { id } = await addLiveJob(db, { createdAt: 1000 })
  assert.equal((await findLiveSession(db, id))?.createdAt, 5001)
  assert.equal((await findJob(db, { id, account }))?.createdAt, 5001)
})

test('an account may have a limited number of open sessions', async ({ db }) => {
  const create = (given = {}) => createJobWriter(db)(newLiveJob(given), { maxQueued: 2 })
  await addJob(db)
  await addLiveJob(db, { account: 'other' })
  const { id, lease } = await beginNewLiveJob(db)
  assert.equal(await create(), 'created')
  assert.equal(await create(), 'refused')
  assert.equal((await rows(db, 'live_sessions')).length, 3, 'a refused job leaves no token')
  assert.ok(await finishLiveJob(db, lease, end))
  assert.equal(await create(), 'created')
  assert.ok((await listOpenLiveJobs(db)).every((job) => job.id !== id))
  assert.ok(await addJob(db, { maxQueued: 2 }), 'nor do sessions count as waiting jobs')
})

test('a repeated creation makes one session', async ({ db }) => {
  const idempotency = { account, key: 'k', fingerprint: 'f' }
  const create = createJobWriter(db)
  const job = newLiveJob()
  const [first, second] = await Promise.all([
    create(job, { maxQueued: 9, idempotency }),
    create(newLiveJob(), { maxQueued: 9, idempotency }),
  ])
  const earlier = { jobId: job.id, fingerprint: 'f' }
  assert.deepEqual([first, second], ['created', earlier])
  assert.deepEqual(await findByIdempotencyKey(db, idempotency, { now: 1001 }), earlier)
  assert.equal((await rows(db, 'live_sessions')).length, 1)
})

test('two sessions never share a token', async ({ db }) => {
  const { token } = await addLiveJob(db)
  await assert.rejects(createJobWriter(db)(newLiveJob({ token }), { maxQueued: 9 }), /unique/i)
  assert.equal((await rows(db, 'jobs')).length, 1, 'nor is a job left behind')
})

test('a token resolves to its job until a grace period after its end', async ({ db }) => {
  const { id, token, lease } = await beginNewLiveJob(db)
  const find = (now: number) => findLiveJobByToken(db, token, { now, grace: 60 })
  assert.equal(await findLiveJobByToken(db, 'token-of-nobody', { now: 1, grace: 60 }), undefined)
  const open = await find(Number.MAX_SAFE_INTEGER)
  const { file } = (await findJob(db, { id, account }))!
  const params = { model: 'stt-1' }
  const kept = { fileId: file!.id, requestWarnings: [], zeroRetention: false }
  const job = { id, account, createdAt: 1000, params, ...kept }
  const unowned = { keyHash: null, owner: undefined }
  assert.deepEqual(open, { job: { ...job, status: 'processing' }, ended: false, ...unowned })
  await finishLiveJob(db, lease, end)
  assert.deepEqual(await find(69_000), {
    job: { ...job, status: 'done' },
    ended: true,
    ...unowned,
  })
  assert.equal(await find(69_001), undefined)
  await remove(db, { id, account, kind: 'live' })
  assert.deepEqual(await find(69_000), { job: undefined, ended: true, ...unowned })
  assert.equal(await find(69_001), undefined)
})

test('a session has an owner while that renews its lease', async ({ db }) => {
  const { id, token } = await addLiveJob(db)
  const claim = { owner: db.nodeId, at: Date.now() }
  const ownerOf = async () => (await findLiveJobByToken(db, token, { now: 1, grace: 1 }))!.owner
  const isListed = async () => (await listOpenLiveJobs(db)).some((job) => job.id === id)
  const lease = (await beginLiveJob(db, id, claim))!
  await renewLease(db, lease, { leaseMs: 60_000 })
  assert.deepEqual([await ownerOf(), await isListed()], [db.nodeId, false])
  assert.equal(await findLiveOwner(db, id), db.nodeId)
  const other = { owner: 'other', at: Date.now(), onlyIfFree: true }
  assert.equal(await beginLiveJob(db, id, other), undefined)

  await renewLease(db, lease, { leaseMs: -1 })
  assert.deepEqual([await ownerOf(), await isListed()], [undefined, true])
  assert.equal((await beginLiveJob(db, id, other))?.epoch, 2)

  const again = (await beginLiveJob(db, id, claim))!
  await renewLease(db, again, { leaseMs: 60_000 })
  await releaseLiveJob(db, lease)
  assert.equal(await ownerOf(), db.nodeId, 'the lease was another')
  await releaseLiveJob(db, again)
  assert.deepEqual([await findLiveOwner(db, id), await isListed()], [undefined, true])
})

test('a session can be started again until it has ended', async ({ db }) => {
  const { id, lease: first } = await beginNewLiveJob(db)
  assert.deepEqual(first, { id, epoch: 1 })
  assert.equal((await findJob(db, { id, account }))?.status, 'processing')
  const second = await beginLiveJob(db, id, { owner: 'next', at: Date.now() })
  assert.deepEqual(second, { id, epoch: 2 })
  assert.equal(await finishLiveJob(db, first, end), false)
  assert.equal((await findJob(db, { id, account }))?.status, 'processing')
  assert.equal(await finishLiveJob(db, second!, end), true)
  assert.equal(await beginLiveJob(db, id, { owner: 'late', at: Date.now() }), undefined)
  assert.equal(await beginLiveJob(db, randomUUID(), { owner: 'late', at: Date.now() }), undefined)
  const recorded = (await addJob(db))!
  assert.equal(await beginLiveJob(db, recorded, { owner: 'server', at: Date.now() }), undefined)
})

test('the end of a session sets its result, recording and time at once', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  assert.equal(await finishLiveJob(db, lease, end), true)
  const job = await findJob(db, { id, account })
  assert.deepEqual([job?.status, job?.completedAt], ['done', 9000])
  assert.deepEqual(job?.result, { text: '{"done":1}' })
  assert.deepEqual([job.file?.duration, job.file?.channels], [2.5, 2])
  const file = await findRecording(db, { id: job.file!.id, account })
  const shape = { filename: null, source: null, extension: 'wav', createdAt: 9000 }
  assert.deepEqual(file, { id: job.file!.id, account, ...shape, ...end.file })
  const kept = await deleteUnusedRecordings(db, { from: 0, to: 10_000 })
  assert.deepEqual(kept.ids, [])
  assert.equal(await finishLiveJob(db, lease, end), false, 'only once')
})

test('a session without audio has a duration and no file', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  await finishLiveJob(db, lease, { ...end, file: undefined })
  const job = await findJob(db, { id, account })
  assert.equal(job?.file?.duration, 0)
  assert.equal(await findRecording(db, { id: job.file!.id, account }), undefined)
})

test("a failed session records its reason beside the client's metadata", async ({ db }) => {
  const { id, token } = await addLiveJob(db)
  const reported = '{"device":"kiosk","failure":"mine","big":12345678901234567890}'
  assert.ok(await replacePostSessionMetadata(db, { id, account, kind: 'live' }, reported))
  assert.equal(await failLiveJob(db, id, { failure, at: 500 }), true)
  const job = await findJob(db, { id, account })
  assert.deepEqual([job?.status, job?.errorCode, job?.completedAt], ['error', 408, 1000])
  const merged = `{"device":"kiosk","failure":${JSON.stringify(failure)},"big":12345678901234567890}`
  assert.equal(job?.postSessionMetadata, merged)
  const found = await findLiveJobByToken(db, token, { now: 61_000, grace: 60 })
  assert.deepEqual([found?.job?.status, found?.ended], ['error', true])
  assert.equal(await findLiveJobByToken(db, token, { now: 61_001, grace: 60 }), undefined)
  assert.equal(await failLiveJob(db, id, { failure, at: 600 }), false, 'only once')
})

test('metadata that arrives after the failure keeps the reason', async ({ db }) => {
  const { id } = await addLiveJob(db)
  await failLiveJob(db, id, { failure, at: 500 })
  const reported = '{"failure":"mine","big":12345678901234567890}'
  assert.ok(await replacePostSessionMetadata(db, { id, account, kind: 'live' }, reported))
  const job = await findJob(db, { id, account })
  const merged = `{"failure":${JSON.stringify(failure)},"big":12345678901234567890}`
  assert.equal(job?.postSessionMetadata, merged)
})

test('a connected session can be failed, a pre-recorded job cannot', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  const recorded = (await addJob(db))!
  assert.equal(await failLiveJob(db, id, { failure, at: 9000 }), true)
  assert.equal(await failLiveJob(db, recorded, { failure, at: 9000 }), false)
  assert.equal(await finishLiveJob(db, lease, end), false)
})

test('a failed session keeps its recording, visible with the failure', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  const { file } = end
  assert.ok(await failLiveJob(db, id, { failure, file, at: 9000, only: lease }))
  const job = await findJob(db, { id, account })
  assert.deepEqual([job?.status, job?.file?.duration], ['error', 2.5])
  const kept = await findRecording(db, { id: job!.file!.id, account })
  assert.deepEqual([kept?.extension, kept?.size, kept?.createdAt], ['wav', 44, 9000])
  const { objects } = (await remove(db, { id, account, kind: 'live' }))!
  assert.deepEqual(objects, [kept!.id])
})

test('a failed session without audio has no duration and file', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  assert.ok(await failLiveJob(db, id, { failure, at: 9000, only: lease }))
  const job = await findJob(db, { id, account })
  assert.equal(job?.file?.duration, null)
  assert.equal(await findRecording(db, { id: job.file.id, account }), undefined)
})

test('a connect timeout fails only a session without a client', async ({ db }) => {
  const { id: begun } = await beginNewLiveJob(db)
  const { id: waiting } = await addLiveJob(db)
  const giveUp = (id: string) => failLiveJob(db, id, { failure, at: 9000, only: 'queued' })
  assert.deepEqual([await giveUp(begun), await giveUp(waiting)], [false, true])
  assert.equal((await findJob(db, { id: begun, account }))?.status, 'processing')
})

test('an owner that lost its lease cannot fail the session', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  const next = await beginLiveJob(db, id, { owner: 'next', at: Date.now() })
  const fail = (only: typeof lease) => failLiveJob(db, id, { failure, ...end, only })
  assert.equal(await fail(lease), false)
  const job = await findJob(db, { id, account })
  assert.deepEqual([job?.status, job?.file?.duration], ['processing', null])
  assert.equal(await fail(next!), true)
})

test('session metadata is replaced for its own account and kind in every state', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  await finishLiveJob(db, lease, end)
  const replace = (job: Partial<JobRef>, text: string) =>
    replacePostSessionMetadata(db, { id, account, kind: 'live', ...job }, text)
  assert.equal(await replace({}, '{"a":1}'), true)
  assert.equal(await replace({}, '{"b":2}'), true)
  assert.equal(await replace({ account: 'other' }, '{}'), false)
  assert.equal(await replace({ kind: 'pre-recorded' }, '{}'), false)
  assert.equal(await replace({ id: randomUUID() }, '{}'), false)
  assert.equal((await findJob(db, { id, account }))?.postSessionMetadata, '{"b":2}')
})

test('the token of a deleted session is kept for a day', async ({ db }) => {
  const open = await addLiveJob(db)
  const { id, lease } = await beginNewLiveJob(db, { customMetadata: { a: 1 } })
  assert.equal(await remove(db, { id, account }), undefined)
  await finishLiveJob(db, lease, end)
  const { file } = (await findJob(db, { id, account }))!
  assert.deepEqual((await remove(db, { id, account }))?.objects, [file!.id])
  const left = await listJobs(db, { account, metadata: { a: 1 } }, { offset: 0, limit: 9 })
  assert.deepEqual(left.rows, [])
  await deleteExpiredTokens(db, { now: 9000 + DAY_MS - 1 })
  assert.ok(await findLiveSession(db, id))
  await deleteExpiredTokens(db, { now: 9000 + DAY_MS })
  assert.equal(await findLiveSession(db, id), undefined)
  assert.ok(await findLiveSession(db, open.id))
})

test('deleting a session without an end time sets that of its job', async ({ db }) => {
  const { id, lease, token } = await beginNewLiveJob(db)
  await finishLiveJob(db, lease, end)
  await db.sql.updateTable('live_sessions').set({ ended_at: null }).execute()
  await remove(db, { id, account })
  assert.equal(await findLiveJobByToken(db, token, { now: 70_000, grace: 60 }), undefined)
})

test('retention deletes an ended session with its recording', async ({ db }) => {
  const { id, lease } = await beginNewLiveJob(db)
  await addLiveJob(db)
  await finishLiveJob(db, lease, end)
  const { file } = (await findJob(db, { id, account }))!
  const deleted = await deleteExpiredJobs(db, { endedBefore: 9001 })
  assert.deepEqual(deleted, { ids: [id], objects: [file!.id] })
})

test('the queue of pre-recorded jobs ignores sessions', async ({ db }) => {
  await addLiveJob(db)
  await beginNewLiveJob(db)
  const before = await rows(db, 'jobs')
  const now = Number.MAX_SAFE_INTEGER
  const late = { failure, at: 9000 }
  assert.equal(await claim(db, { now }), undefined)
  assert.equal(await requeueJobsOfDeadNodes(db, { now }), 0)
  assert.equal(await returnLost(db, { now }), 0)
  assert.deepEqual(await Array.fromAsync(failExhaustedJobs(db, { maxAttempts: 0, ...late })), [[]])
  assert.deepEqual(await Array.fromAsync(failOverdueJobs(db, { since: now, ...late })), [[]])
  assert.deepEqual(await findActivePreRecordedJobs(db), [])
  const state = await readQueueState(db, { now, maxAttempts: 0, running: [] })
  assert.deepEqual(
    [state.dueJobs, state.oldestDue, state.hasAbandoned, state.hasExhausted],
    [0, undefined, false, false],
  )
  assert.deepEqual(await rows(db, 'jobs'), before)
  await addJob(db, { fileId: await addFile(db) })
  assert.ok(await claim(db, { maxPerAccount: 1 }), 'a session takes no place of a job')
})

test('open sessions are listed oldest first with the data for a restart', async ({ db }) => {
  const [low, high] = [randomUUID(), randomUUID()].sort()
  const second = await beginNewLiveJob(db, { id: low!, createdAt: 2000 })
  const params = { channels: 1 }
  const first = await addLiveJob(db, { id: high!, account: 'other', createdAt: 1000, params })
  const failed = await addLiveJob(db)
  await failLiveJob(db, failed.id, { failure, at: 1 })
  await addJob(db)
  const found = await listOpenLiveJobs(db)
  const reported = found.map(({ id, account, status, params }) => ({ id, account, status, params }))
  assert.deepEqual(reported, [
    { id: first.id, account: 'other', status: 'queued', params: { channels: 1 } },
    { id: second.id, account, status: 'processing', params: { model: 'stt-1' } },
  ])
})
