import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { findJob } from '../../../../src/storage/jobs/jobs.ts'
import { insertRecording } from '../../../../src/storage/recordings/recordings.ts'
import { addFile, addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Queueing and claiming jobs. */
export const queueTests = createSuite()
const { test } = queueTests

test('a claimed job has the warnings about its request', async ({ db }) => {
  await addJob(db, { warnings: ['ignored: a', 'ignored: b'] })
  await addJob(db)
  assert.deepEqual((await claim(db))!.requestWarnings, ['ignored: a', 'ignored: b'])
  assert.deepEqual((await claim(db))!.requestWarnings, [])
})

test('a queued job shows its request', async ({ db }) => {
  const id = await addJob(db, { createdAt: 1234 })
  const job = await findJob(db, { id: id!, account: 'acme' })
  assert.ok(job?.file)
  assert.deepEqual(job, {
    id,
    account: 'acme',
    kind: 'pre-recorded',
    status: 'queued',
    createdAt: 1234,
    completedAt: null,
    customMetadata: null,
    errorCode: null,
    postSessionMetadata: '{}',
    requestParams: '{"model":"stt-1"}',
    file: {
      id: job.file.id,
      filename: 'talk.mp3',
      source: 'https://audio.example/talk.mp3',
      duration: null,
      channels: null,
    },
    redactedAudio: null,
    result: null,
    zeroRetention: false,
  })
})

test('a job copies the metadata of its upload', async ({ db }) => {
  const fileId = await addFile(db)
  const id = await addJob(db, { fileId })
  const job = await findJob(db, { id: id!, account: 'acme' })
  const known = { filename: 'talk.wav', source: null, duration: 1, channels: 1 }
  assert.deepEqual(job?.file, { id: fileId, ...known })
})

test('a job of a missing upload or one of another account is rejected', async ({ db }) => {
  const fileId = await addFile(db, { account: 'other' })
  assert.equal(await addJob(db, { fileId }), undefined)
  assert.equal(await addJob(db, { fileId: randomUUID() }), undefined)
})

test('an account may have a limited number of waiting jobs', async ({ db }) => {
  await addJob(db, { account: 'other' })
  assert.ok(await addJob(db, { maxQueued: 2 }))
  assert.ok(await addJob(db, { maxQueued: 2 }))
  assert.equal(await addJob(db, { maxQueued: 2 }), undefined)
  await claim(db)
  await claim(db)
  assert.ok(await addJob(db, { maxQueued: 2 }), 'a job under way no longer waits')
})

test('created_at increases from job to job even if the clock does not', async ({ db }) => {
  for (const createdAt of [1000, 1000, 500, 2000]) await addJob(db, { createdAt })
  await addJob(db, { account: 'other', createdAt: 7 })
  const rows = await db.sql.selectFrom('jobs').select('created_at').orderBy('created_at').execute()
  assert.deepEqual(
    rows.map(({ created_at }) => created_at),
    [7, 1000, 1001, 1002, 2000],
  )
})

test('claim returns each job once with its attempt and epoch', async ({ db }) => {
  const id = await addJob(db)
  const job = await claim(db)
  assert.deepEqual(job?.lease, { id, epoch: 1 })
  assert.equal(job.attempt, 1)
  assert.deepEqual(job.params, { model: 'stt-1' })
  assert.equal((await findJob(db, { id: id!, account: 'acme' }))?.status, 'processing')
  assert.equal(await claim(db), undefined)
})

test('claim prefers the account with the fewest running jobs, then the oldest', async ({ db }) => {
  const first = await addJob(db, { account: 'busy', createdAt: 1 })
  const second = await addJob(db, { account: 'busy', createdAt: 2 })
  const third = await addJob(db, { account: 'late', createdAt: 3 })
  const order = []
  for (let i = 0; i < 3; i++) order.push((await claim(db))?.id)
  assert.deepEqual(order, [first, third, second])
})

test('claim skips jobs not due, without attempts or over the account limit', async ({ db }) => {
  const id = await addJob(db, { runAfter: 6000 })
  assert.equal(await claim(db, { now: 5999 }), undefined)
  assert.equal(await claim(db, { now: 6000, maxAttempts: 0 }), undefined)
  assert.equal((await claim(db, { now: 6000, maxPerAccount: 1 }))?.id, id)
  await addJob(db)
  assert.equal(await claim(db, { now: 6000, maxPerAccount: 1 }), undefined)
  assert.ok(await claim(db, { now: 6000, maxPerAccount: 2 }))
})

test('claim ignores live sessions', async ({ db }) => {
  await addJob(db)
  await db.sql.updateTable('jobs').set({ kind: 'live' }).execute()
  assert.equal(await claim(db), undefined)
})

test('jobs are claimed by whether their audio is local', async ({ db }) => {
  const unfetched = await addJob(db)
  const uploaded = await addJob(db, { fileId: await addFile(db) })
  const first = await claim(db, { only: 'stored' })
  assert.deepEqual([first?.id, first?.hasRecording], [uploaded, true])
  assert.equal(await claim(db, { only: 'stored' }), undefined)
  const second = await claim(db, { only: 'remote' })
  assert.deepEqual([second?.id, second?.hasRecording], [unfetched, false])
  assert.equal(await claim(db, { only: 'remote' }), undefined)
})

test('a recording fetched by an earlier attempt is local', async ({ db }) => {
  const id = (await addJob(db))!
  const { file } = (await findJob(db, { id, account: 'acme' }))!
  const shape = { extension: 'wav', size: 1, duration: 1, channels: 1, createdAt: 1 }
  await insertRecording(db, {
    ...shape,
    id: file!.id,
    account: 'acme',
    filename: null,
    source: 'x',
  })
  assert.equal(await claim(db, { only: 'remote' }), undefined)
  assert.equal((await claim(db, { only: 'stored' }))?.hasRecording, true)
})
