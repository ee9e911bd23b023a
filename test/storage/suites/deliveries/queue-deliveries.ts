import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Db, inTransaction } from '../../../../src/storage/database/db.ts'
import { recordOutcome } from '../../../../src/storage/deliveries/deliveries.ts'
import {
  ENDPOINT_GONE,
  type LiveCallback,
  lastLiveCallback,
  queueLiveCallbacks,
  queueWebhooks,
} from '../../../../src/storage/deliveries/queue-deliveries.ts'
import type { SessionMessage } from '../../../../src/storage/jobs/queue/insert-job.ts'
import { failExhaustedJobs } from '../../../../src/storage/jobs/queue/queue-maintenance.ts'
import { beginLiveJob, failLiveJob, finishLiveJob } from '../../../../src/storage/live/live-jobs.ts'
import {
  addWebhook,
  attemptAt,
  callbackTo,
  endNewJob,
  takeAll,
} from '../../../support/delivery/test-deliveries.ts'
import { addJob } from '../../../support/jobs/test-jobs.ts'
import { addLiveJob, beginNewLiveJob } from '../../../support/live/sessions/test-live-jobs.ts'
import { createSuite } from '../suite.ts'

/** What is queued for receivers, in the transaction of the change. */
export const deliveryOutboxTests = createSuite()
const { test } = deliveryOutboxTests

const url = 'https://app.example:8443/hooks?token=1'

/** Returns every row as `event state`, in the order of its sequence. */
async function rowsOf(db: Db, endpointId?: string): Promise<string[]> {
  let query = db.sql.selectFrom('deliveries').selectAll().orderBy('job_id').orderBy('seq')
  if (endpointId) query = query.where('endpoint_id', '=', endpointId)
  return (await query.execute()).map(({ event, state }) => `${event} ${state}`)
}

test('a webhook gets an event when a job is created and when it ends', async ({ db }) => {
  await addWebhook(db)
  await addWebhook(db, { account: 'other' })
  const id = await endNewJob(db, { result: {} })
  assert.deepEqual(await rowsOf(db), ['transcription.created due', 'transcription.success waiting'])
  const [created] = await takeAll(db)
  assert.deepEqual(
    [created?.jobId, created?.kind, created?.method, created?.url, created?.createdAt],
    [id, 'webhook', 'POST', 'https://hooks.example/all', 1000],
  )
  assert.equal(created?.body, `{"event":"transcription.created","payload":{"id":"${id}"}}`)
})

test('a webhook gets only the events it subscribes to', async ({ db }) => {
  await addWebhook(db, { events: 'transcription.error,live.end_session' })
  await endNewJob(db)
  await endNewJob(db, { result: {} })
  assert.deepEqual(await rowsOf(db), ['transcription.error due'])
})

test('the callback of a job is queued once with its end', async ({ db }) => {
  const id = await endNewJob(db, { params: callbackTo(url, 'PUT'), result: {} })
  const [callback, ...others] = await takeAll(db)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [callback?.jobId, callback?.event, callback?.kind, callback?.method, callback?.url],
    [id, 'transcription.success', 'callback', 'PUT', url],
  )
  assert.deepEqual([callback?.body, callback?.bodyObject], [null, null])
})

test('a job without callback enabled queues none', async ({ db }) => {
  await endNewJob(db, { params: { ...callbackTo(url), callback: false }, result: {} })
  await endNewJob(db, { params: { callback: true }, result: {} })
  assert.deepEqual(await rowsOf(db), [])
})

test('an invalid callback URL does not prevent the end of its job', async ({ db }) => {
  await endNewJob(db, { params: callbackTo('https://[oops'), result: {} })
  assert.deepEqual(await rowsOf(db), ['transcription.success due'])
})

test('callbacks to one origin share an endpoint per account', async ({ db }) => {
  const params = callbackTo('https://app.example/one')
  await endNewJob(db, { params, result: {} })
  await endNewJob(db, { params: callbackTo('https://app.example/two?three'), result: {} })
  await endNewJob(db, { params: callbackTo('https://app.example:444/one'), result: {} })
  await endNewJob(db, { params, account: 'other', result: {} })
  const endpoints = await db.sql.selectFrom('endpoints').selectAll().orderBy('account').execute()
  assert.deepEqual(endpoints.map(({ account, kind, url }) => `${account} ${kind} ${url}`).sort(), [
    'acme callback https://app.example',
    'acme callback https://app.example:444',
    'other callback https://app.example',
  ])
})

test('jobs that end without having started queue their events', async ({ db }) => {
  await addWebhook(db, { events: 'transcription.error' })
  const count = 120
  await inTransaction(db, async (tx) => {
    for (let i = 0; i < count; i++) await addJob({ ...db, ...tx }, { params: callbackTo(url) })
  })
  const failure = { code: 500, message: 'Cannot finish the job' }
  const ended = failExhaustedJobs(db, { maxAttempts: 0, failure, at: 9000 })
  assert.equal((await Array.fromAsync(ended)).flat().length, count)
  assert.equal((await rowsOf(db)).length, 2 * count, 'a callback and a webhook of each')
})

test('a rolled-back change queues nothing', async ({ db }) => {
  await addWebhook(db)
  const change = inTransaction(db, async (tx) => {
    await addJob({ ...db, sql: tx.sql })
    throw new Error('the disk is full')
  })
  await assert.rejects(change)
  assert.deepEqual(await rowsOf(db), [])
})

test('deliveries of a disabled endpoint are recorded as failed', async ({ db }) => {
  const id = await addWebhook(db)
  const disabled = { disabled_at: 5, disabled_reason: 'it answered 410' }
  await db.sql.updateTable('endpoints').set(disabled).where('id', '=', id).execute()
  await addJob(db)
  const row = await db.sql.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual(
    [row.state, row.reason, row.ended_at, row.next_at],
    ['failed', 'the endpoint is disabled: it answered 410', 1000, null],
  )
})

test('a webhook gets the lifecycle events of a session', async ({ db }) => {
  const webhook = await addWebhook(db)
  const { lease } = await beginNewLiveJob(db)
  assert.ok(await beginLiveJob(db, lease.id, { owner: 'another server', at: 3000 }))
  await failLiveJob(db, lease.id, { failure: { code: 500, message: 'oops' }, at: 9000 })
  assert.deepEqual(await rowsOf(db, webhook), [
    'live.start_session due',
    'live.start_recording waiting',
    'live.end_recording waiting',
    'live.end_session waiting',
  ])
})

test('a session without a client has no recording events', async ({ db }) => {
  const webhook = await addWebhook(db)
  const { id } = await addLiveJob(db)
  await failLiveJob(db, id, { failure: { code: 408, message: 'Nobody came' }, at: 9000 })
  const events = ['live.start_session due', 'live.end_session waiting']
  assert.deepEqual(await rowsOf(db, webhook), events)
})

function message(seq: number, given: Partial<LiveCallback> = {}): LiveCallback {
  return {
    seq,
    event: 'live.transcript',
    body: `${seq}`,
    body_object: null,
    isDroppable: false,
    ...given,
  }
}

function queueMessages(db: Db, id: string, seqs: readonly number[], isDroppable = false) {
  const job = { id, account: 'acme', request_params: JSON.stringify(callbackTo(url)) }
  const messages = seqs.map((seq) => message(seq, { isDroppable }))
  return inTransaction(db, (tx) =>
    queueLiveCallbacks(tx, job, messages, { at: 2000, maxQueued: 3 }),
  )
}

test('messages of a session are queued once and in order', async ({ db }) => {
  const id = randomUUID()
  assert.equal(await lastLiveCallback(db, { jobId: id }), undefined)
  await queueMessages(db, id, [0, 1])
  await queueMessages(db, id, [1, 2])
  assert.equal(await lastLiveCallback(db, { jobId: id }), 2)
  const bodies: (string | null)[] = []
  for (;;) {
    const [next, ...others] = await takeAll(db)
    assert.deepEqual(others, [], 'one at a time')
    if (!next) break
    bodies.push(next.body)
    await recordOutcome(db, { delivery: next, attempt: attemptAt(3000), outcome: 'delivered' })
  }
  assert.deepEqual(bodies, ['0', '1', '2'])
})

test('with too many waiting messages replaceable ones are dropped', async ({ db }) => {
  const id = randomUUID()
  assert.equal(await queueMessages(db, id, [0, 1], true), 0)
  assert.equal(await queueMessages(db, id, [2, 3, 4], true), 2)
  assert.equal(await queueMessages(db, id, [5, 6], false), 0)
  assert.equal((await rowsOf(db)).length, 5)
})

test('later messages of a sequence whose receiver is gone are recorded as failed', async ({
  db,
}) => {
  const id = randomUUID()
  await queueMessages(db, id, [0, 1])
  const [first] = await takeAll(db)
  const gone = { outcome: 'failed' as const, reason: ENDPOINT_GONE, endsSequence: true }
  await recordOutcome(db, { delivery: first!, attempt: attemptAt(3000, 410), ...gone })
  await queueMessages(db, id, [2])
  await queueMessages(db, randomUUID(), [0])
  const rows = await db.sql.selectFrom('deliveries').selectAll().where('job_id', '=', id).execute()
  const ends = rows.map(({ state, reason }) => `${state} ${reason}`)
  assert.deepEqual(ends, Array(3).fill('failed gone'))
  assert.equal((await takeAll(db)).length, 1, 'another job is notified')
})

test('a webhook enabled again after a 410 gets further events of the job', async ({ db }) => {
  await addWebhook(db)
  const id = (await addJob(db))!
  const [created] = await takeAll(db)
  const gone = { outcome: 'failed' as const, reason: ENDPOINT_GONE }
  await recordOutcome(db, { delivery: created!, attempt: attemptAt(3000, 410), ...gone })
  await inTransaction(db, (tx) => {
    return queueWebhooks(tx, { id, account: 'acme' }, ['transcription.success'], { at: 4000 })
  })
  assert.deepEqual(await rowsOf(db), ['transcription.created failed', 'transcription.success due'])
})

test('the callback of a session gets its creation if requested', async ({ db }) => {
  const startMessage: SessionMessage = (params, { at }) => {
    return params.callback ? `{"type":"start_session","created_at":${at}}` : undefined
  }
  const params = callbackTo(url)
  const { id } = await addLiveJob(db, { params, startMessage })
  await addLiveJob(db, { params })
  await addLiveJob(db, { startMessage })
  const [started, ...others] = await takeAll(db)
  assert.deepEqual(others, [])
  const payload = '{"type":"start_session","created_at":1000}'
  assert.equal(started?.body, `{"id":"${id}","event":"live.start_session","payload":${payload}}`)
  assert.deepEqual([started?.kind, started?.seq], ['live', 0])
})

test('the callback of a failed session gets its end after all messages', async ({ db }) => {
  const failure = { code: 408, message: 'Nobody came' }
  const endMessage: SessionMessage = (params, { id, at }) => {
    return params.callback ? `{"type":"end_session","session_id":"${id}","at":${at}}` : undefined
  }
  const { id } = await addLiveJob(db, { params: callbackTo(url) })
  await queueMessages(db, id, [0, 1])
  await failLiveJob(db, id, { failure, at: 9000, endMessage })
  const other = await addLiveJob(db)
  await failLiveJob(db, other.id, { failure, at: 9000, endMessage })
  const rows = await db.sql.selectFrom('deliveries').selectAll().orderBy('seq', 'desc').execute()
  assert.equal(rows.length, 3)
  const payload = `{"type":"end_session","session_id":"${id}","at":9000}`
  const body = `{"id":"${id}","event":"live.end_session","payload":${payload}}`
  assert.deepEqual([rows[0]?.job_id, rows[0]?.seq, rows[0]?.body], [id, 2, body])
})

test('the last messages of a session are queued only with its end', async ({ db }) => {
  const { lease } = await beginNewLiveJob(db, { params: callbackTo(url) })
  const result = { result: '{}', result_object: null, result_size: null }
  const end = { result, file: undefined, at: 9000, callbacks: [message(7), message(8)] }
  const stale = { ...lease, epoch: lease.epoch - 1 }
  assert.equal(await finishLiveJob(db, stale, end), false)
  assert.deepEqual(await rowsOf(db), [])
  assert.equal(await finishLiveJob(db, lease, end), true)
  assert.deepEqual(await rowsOf(db), ['live.transcript due', 'live.transcript waiting'])
})
