import assert from 'node:assert/strict'
import type { Db } from '../../../src/storage/database/db.ts'
import { createCallbackQueue } from '../../../src/storage/live/live-callbacks.ts'
import { beginLiveJob, failLiveJob } from '../../../src/storage/live/live-jobs.ts'
import { beginNewLiveJob } from '../../support/live/sessions/test-live-jobs.ts'
import { createSuite } from './suite.ts'

/** Messages of live sessions for their callbacks. */
export const liveCallbackTests = createSuite()
const { test } = liveCallbackTests

const params = { callback: true, callback_config: { url: 'https://hooks.example/live' } }
const failure = { code: 500, message: 'failed' }

/** Counts the transactions of a database. */
function countTransactions(db: Db) {
  const counted = { transactions: 0 }
  const rows = new Proxy(db.sql, {
    get(target, name: keyof Db['sql']) {
      if (name === 'transaction') counted.transactions++
      const member = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { db: { ...db, sql: rows }, counted }
}

function messageOf(seq: number, body = `"${seq}"`) {
  return { seq, event: 'live.transcript', body, body_object: null, isDroppable: false }
}

async function countOf(db: Db, jobId: string): Promise<number> {
  const rows = await db.sql
    .selectFrom('deliveries')
    .select('id')
    .where('job_id', '=', jobId)
    .execute()
  return rows.length
}

test('concurrent messages of sessions are queued in one transaction', async (given) => {
  const { db, counted } = countTransactions(given.db)
  const jobs = []
  for (let i = 0; i < 20; i++) jobs.push(await beginNewLiveJob(db, { params }))
  counted.transactions = 0
  const queue = createCallbackQueue(db, { maxQueued: 10 })
  const first = queue(jobs[0]!.lease, [messageOf(1)])
  const all = jobs.map(({ lease }) => queue(lease, [messageOf(2), messageOf(3)]))
  assert.deepEqual(await Promise.all([first, ...all]), Array(21).fill(0))
  assert.equal(counted.transactions, 2)
  assert.equal(await countOf(db, jobs[0]!.id), 3)
  assert.equal(await countOf(db, jobs[19]!.id), 2)
})

test('nothing is queued for a session that has ended or lost its lease', async ({ db }) => {
  const lost = await beginNewLiveJob(db, { params })
  await beginLiveJob(db, lost.id, { owner: 'next', at: 1 })
  const ended = await beginNewLiveJob(db, { params })
  await failLiveJob(db, ended.id, { failure, at: 1 })
  const queue = createCallbackQueue(db, { maxQueued: 10 })
  for (const { id, lease } of [lost, ended]) {
    assert.equal(await queue(lease, [messageOf(1)]), undefined)
    assert.equal(await countOf(db, id), 0)
  }
})

test("only the callback of a session's parameters is parsed", async ({ db, t }) => {
  const job = await beginNewLiveJob(db, { params: { ...params, vocabulary: 'x'.repeat(10_000) } })
  const queue = createCallbackQueue(db, { maxQueued: 10 })
  const parse = t.mock.method(JSON, 'parse')
  assert.equal(await queue(job.lease, [messageOf(1)]), 0)
  assert.equal(await countOf(db, job.id), 1)
  assert.ok(parse.mock.callCount() > 0)
  for (const { arguments: requested } of parse.mock.calls) assert.ok(requested[0].length < 1000)
})
