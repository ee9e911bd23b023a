import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { addFile, addJob, claim, makeOverdue } from '../../../test/support/jobs/test-jobs.ts'
import { ACCOUNT, openService } from '../../../test/support/jobs/test-service.ts'
import { captureLog } from '../../../test/support/server/captured-log.ts'
import { fakeTimeouts } from '../../../test/support/workers/fake-timeouts.ts'
import type { Segment } from '../../asr/engines/recognizer.ts'
import { steadyNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { inTransaction } from '../../storage/database/db.ts'
import { findJob, type Job } from '../../storage/jobs/jobs.ts'
import { LEASE_MS } from './lease-heartbeat.ts'

/**
 * Creates an engine that blocks every batch until it is released; `begun` counts the batches
 * received.
 */
function holdEngine() {
  const semaphore = Promise.withResolvers<void>()
  const came = Promise.withResolvers<void>()
  const engine = { begun: 0, came: came.promise, release: semaphore.resolve, speech: hold() }
  function hold() {
    return createFakeSpeechEngine('hello', {
      onBatch: async () => {
        engine.begun++
        came.resolve()
        await semaphore.promise
      },
    })
  }
  return engine
}

async function find(service: Awaited<ReturnType<typeof openService>>, id: string): Promise<Job> {
  return (await findJob(service.storage.db, { id, account: ACCOUNT }))!
}

test("an account's limit of running jobs does not delay another account", async (t) => {
  const held = holdEngine()
  const env = { STENO_MAX_CONCURRENT_JOBS: '1' }
  const service = await openService(t, { speech: held.speech, env, graceMs: 0 })
  await service.jobs.start()
  const first = await service.submit({ seconds: 1 })
  const second = await service.submit({ seconds: 1 })
  await held.came
  const jobs = [await find(service, first), await find(service, second)]
  // Which of them came first is not known if both came within a millisecond.
  assert.deepEqual(jobs.map(({ status }) => status).sort(), ['processing', 'queued'])
  held.release()
  for (const id of [first, second]) assert.equal((await service.ended(id)).status, 'done')
})

test('a job past the queue timeout ends with 503, and running jobs continue', async (t) => {
  const held = holdEngine()
  const env = { STENO_QUEUE_TIMEOUT_S: '600', STENO_MAX_CONCURRENT_JOBS: '1' }
  const service = await openService(t, { speech: held.speech, env })
  await service.jobs.start()
  const first = await service.submit({ seconds: 1 })
  await held.came
  const second = await service.submit({ seconds: 1 })
  await makeOverdue(service.storage.db, second, 600)
  const third = await service.submit({ seconds: 1 })
  while ((await find(service, second)).status === 'queued') await delay(5)
  const overdue = await find(service, second)
  assert.deepEqual([overdue.status, overdue.errorCode], ['error', 503])
  assert.match(
    JSON.stringify(overdue.postSessionMetadata),
    /it waited for 600 s \(STENO_QUEUE_TIMEOUT_S\)/,
  )
  held.release()
  for (const id of [first, third]) assert.equal((await service.ended(id)).status, 'done')
})

test('the queue is polled when the oldest job has waited for the queue timeout', async (t) => {
  const held = holdEngine()
  const env = { STENO_QUEUE_TIMEOUT_S: '7', STENO_MAX_CONCURRENT_JOBS: '1' }
  const service = await openService(t, { speech: held.speech, env })
  await service.jobs.start()
  const first = await service.submit({ seconds: 1 })
  await held.came
  const timeouts = t.mock.method(globalThis, 'setTimeout')
  const second = await service.submit({ seconds: 1 })
  const isUntilThen = ({ arguments: [, ms] }: { arguments: unknown[] }) =>
    Number(ms) > 5500 && Number(ms) <= 7001
  while (!timeouts.mock.calls.some(isUntilThen)) await delay(5)
  timeouts.mock.restore()
  held.release()
  for (const id of [first, second]) assert.equal((await service.ended(id)).status, 'done')
})

test('an attempt that exceeds its timeout ends with 504 and frees its slot', async (t) => {
  const stuck = createFakeSpeechEngine('hello')
  const { pass } = fakeTimeouts(t, 654_000)
  const speech = { ...stuck, planRecognition: createStuckOnce(stuck.planRecognition, pass) }
  const service = await openService(t, { speech, env: { STENO_JOB_TIMEOUT_S: '654' } })
  await service.jobs.start()
  assert.equal((await service.ended(await service.submit({ seconds: 1 }))).errorCode, 504)
  assert.equal((await service.ended(await service.submit({ seconds: 1 }))).status, 'done')
})

type Plan = ReturnType<typeof createFakeSpeechEngine>['planRecognition']

/** Creates a `planRecognition` whose first call ends only when it is aborted, after `onStuck`. */
function createStuckOnce(plan: Plan, onStuck: () => void): Plan {
  let calls = 0
  return (channels, settings, options) => {
    if (calls++ > 0) return plan(channels, settings, options)
    return new Promise((_, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason))
      onStuck()
    })
  }
}

test('a job fails after the maximum number of attempts', async (t) => {
  const onBatch = () => Promise.reject(new AppError('engine_failed', 'a worker crashed'))
  const speech = createFakeSpeechEngine('hello', { onBatch })
  const service = await openService(t, { speech, env: { STENO_JOB_MAX_ATTEMPTS: '2' } })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 1 }))
  assert.deepEqual([job.status, job.errorCode], ['error', 500])
  assert.match(JSON.stringify(job.postSessionMetadata), /all 2 attempts failed/)
})

test('a job of a killed server is resumed at the start, before its lease ends', async (t) => {
  const service = await openService(t)
  const id = await service.submit({ seconds: 1 })
  await claim(service.storage.db, { now: steadyNow(), leaseMs: 900_000 })
  await service.jobs.start()
  assert.equal((await service.ended(id)).status, 'done')
})

test('a job with an expired lease is resumed at the next poll', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const { db } = service.storage
  const later = steadyNow() + 900_000
  const fileId = await addFile(db, { account: ACCOUNT, createdAt: Date.now() })
  const id = await addJob(db, { account: ACCOUNT, fileId, runAfter: later })
  assert.ok(await claim(db, { now: later, leaseMs: -900_001 }))
  await service.submit({ seconds: 1 })
  assert.equal((await service.ended(id!)).errorCode, 404, 'it was tried: its bytes are nowhere')
})

test('a job interrupted too often fails, and its checkpoints are removed', async (t) => {
  const service = await openService(t)
  const id = await service.submit({ seconds: 1 })
  await service.storage.db.sql.updateTable('jobs').set({ interruptions: 99 }).execute()
  const stages = join(service.folder, 'work', id)
  await mkdir(stages, { recursive: true })
  await claim(service.storage.db, { now: steadyNow() })
  await service.jobs.start()
  const job = await service.ended(id)
  assert.deepEqual([job.status, job.errorCode], ['error', 500])
  assert.match(JSON.stringify(job.postSessionMetadata), /the server stopped or hung/)
  while (existsSync(stages)) await delay(5)
})

test('the checkpoints of failed jobs are removed although the disk is full for others', async (t) => {
  const { jobs, storage, folder, submit } = await openService(t)
  const stagesOf = (id: string) => join(folder, 'work', id)
  const { db } = storage
  await sql`create trigger full_disk before update of status on jobs
    when (select count(*) from jobs where status = 'error') >= 100
    begin select raise(abort, 'disk full'); end`.execute(db.sql)
  await jobs.start()
  const ids = await inTransaction(db, async (tx) => {
    const added = Array.from({ length: 101 }, () => addJob({ ...db, ...tx }, { account: ACCOUNT }))
    const addedIds = await Promise.all(added)
    await tx.sql.updateTable('jobs').set({ interruptions: 100 }).execute()
    for (const id of addedIds) await mkdir(stagesOf(id!), { recursive: true })
    return addedIds
  })
  const left = () => ids.filter((id) => existsSync(stagesOf(id!))).length
  await submit({ seconds: 1 })
  while (left() > 1) await delay(5)
  assert.equal(left(), 1)
})

test('a closing server lets running jobs finish within the grace period', async (t) => {
  const held = holdEngine()
  const service = await openService(t, { speech: held.speech })
  await service.jobs.start()
  const id = await service.submit({ seconds: 1 })
  await held.came
  const closed = service.jobs.close()
  held.release()
  await closed
  assert.equal((await find(service, id)).status, 'done')
})

test('a job interrupted by a closing server is resumed by the next one', async (t) => {
  const folder = await cutOff(t)
  const recognized: Segment[] = []
  const onBatch = (batch: readonly Segment[]) => void recognized.push(...batch)
  const speech = createFakeSpeechEngine('hello', { onBatch })
  const env = { STENO_JOB_MAX_ATTEMPTS: '1' }
  const service = await openService(t, { speech, env, folder: folder.path })
  await service.jobs.start()
  assert.equal((await service.ended(folder.job)).status, 'done', 'the attempt was not counted')
  assert.deepEqual(
    recognized.map(({ start }) => start / 80_000),
    [4, 1, 3, 5],
  )
})

/** Closes a server while it recognizes the third batch of a job; returns its folder and the job. */
async function cutOff(t: TestContext): Promise<{ path: string; job: string }> {
  const third = Promise.withResolvers<void>()
  let batches = 0
  async function onBatch(_batch: unknown, signal: AbortSignal): Promise<void> {
    if (++batches < 3) return
    third.resolve()
    await once(signal, 'abort')
  }
  const speech = { ...createFakeSpeechEngine('hello', { onBatch }), workers: 0 }
  const service = await openService(t, { speech, graceMs: 0 })
  await service.jobs.start()
  const job = await service.submit({ seconds: 30 })
  await third.promise
  await service.close()
  return { path: service.folder, job }
}

test('unresponsive sources do not delay jobs with local recordings', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const source = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/talk.wav`
  const env = { STENO_ALLOW_PRIVATE_NETWORK: 'true' }
  // So long that a stop that waited for the sources would never end.
  const { jobs, storage, submit, close } = await openService(t, { env, graceMs: 2 ** 30 })
  await jobs.start()
  const request = { params: {}, customMetadata: null, fileId: null, source }
  const stalled = []
  for (let i = 0; i < 5; i++) stalled.push((await jobs.service.submit(ACCOUNT, request)).id)
  const id = await submit({ seconds: 1 })
  const statusOf = async (id: string) =>
    (await findJob(storage.db, { id, account: ACCOUNT }))?.status
  while ((await statusOf(id)) !== 'done') await delay(5)
  assert.deepEqual(new Set(await Promise.all(stalled.map(statusOf))), new Set(['processing']))
  await close()
})

test('fetched and uploaded recordings take turns at the slots', async (t) => {
  // Longer than those that share a slot.
  const recording = Buffer.from(JSON.stringify({ seconds: 31 }))
  const source = createHttpServer((_, response) => response.end(recording))
  t.after(() => source.close())
  await once(source.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(source.address() as AddressInfo).port}/talk.wav`
  const engine = holdEngine()
  const env = { STENO_ALLOW_PRIVATE_NETWORK: 'true' }
  const { jobs, storage, submit } = await openService(t, { env, speech: engine.speech })
  const { sql } = storage.db
  for (let i = 0; i < 8; i++) await submit({ seconds: 31 })
  await jobs.start()
  while (engine.begun < 2) await delay(5)
  const request = { params: {}, customMetadata: null, fileId: null, source: address }
  for (let i = 0; i < 6; i++) await jobs.service.submit(ACCOUNT, request)
  const fetched = () =>
    sql.selectFrom('files').select('id').where('source', 'is not', null).execute()
  while ((await fetched()).length < 6) await delay(5)
  engine.release()
  await jobs.idle()
  const ended = await sql.selectFrom('jobs').select('file_source').orderBy('completed_at').execute()
  const firsts = ended.slice(2, 8).filter(({ file_source }) => file_source !== null)
  assert.ok(firsts.length >= 2 && firsts.length <= 4, `${firsts.length} of 6`)
})

test('short recordings share a slot, fetched ones once decoded', async (t) => {
  const source = createHttpServer((_, response) => response.end(JSON.stringify({ seconds: 1 })))
  t.after(() => source.close())
  await once(source.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(source.address() as AddressInfo).port}/talk.wav`
  const engine = holdEngine()
  const env = { STENO_ALLOW_PRIVATE_NETWORK: 'true' }
  const { jobs } = await openService(t, { env, speech: engine.speech })
  await jobs.start()
  const request = { params: {}, customMetadata: null, fileId: null, source: address }
  for (let i = 0; i < 5; i++) await jobs.service.submit(ACCOUNT, request)
  // Two of long recordings would be under way.
  while (engine.begun < 5) await delay(5)
  engine.release()
  await jobs.idle()
})

test('the queue is polled at least once per lease', async (t) => {
  // So that the pauses of the queue are the only long ones.
  const env = { STENO_JOB_TIMEOUT_S: '0', STENO_FETCH_TIMEOUT_S: '5' }
  const { jobs, storage } = await openService(t, { env })
  await addJob(storage.db, { account: ACCOUNT, runAfter: steadyNow() + 900_000 })
  // The start makes jobs queued by an earlier server due, so the job is put off again afterwards.
  await jobs.start()
  const later = steadyNow() + 900_000
  await storage.db.sql.updateTable('jobs').set({ status: 'queued', run_after: later }).execute()
  const timeouts = t.mock.method(globalThis, 'setTimeout')
  const pauses = () => timeouts.mock.calls.map(({ arguments: [, ms] }) => Number(ms))
  await jobs.service.submit(ACCOUNT, {
    params: {},
    customMetadata: null,
    fileId: null,
    source: 'http://127.0.0.1:9/talk.wav',
  })
  while (!pauses().some((ms) => ms > 10_000)) await delay(5)
  assert.deepEqual(
    pauses().filter((ms) => ms > LEASE_MS),
    [],
  )
})

test('a queue that cannot be read is logged once per outage', async (t) => {
  const { log, lines } = captureLog()
  const { jobs, storage, submit } = await openService(t, { log })
  await jobs.start()
  const pauses = fakeTimeouts(t, 1000)
  await submit({ seconds: 1 })
  const reads = t.mock.method(storage.db.sql, 'getExecutor', () => {
    throw new Error('the database is away')
  })
  while (reads.mock.callCount() < 3) {
    pauses.pass()
    await delay(5)
  }
  reads.mock.restore()
  while (!lines.some(({ msg }) => msg.includes('again'))) {
    pauses.pass()
    await delay(5)
  }
  assert.deepEqual(
    lines.flatMap(({ msg }) => (msg.includes('the queue') ? msg : [])),
    ['cannot read the queue', 'reading the queue again'],
  )
})
