import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../../../src/storage/database/db.ts'
import { inTransaction } from '../../../../src/storage/database/db.ts'
import {
  deleteEvents,
  type EventCursor,
  lastEventCursor,
  readEventsAfter,
  type StoredEvent,
} from '../../../../src/storage/jobs/events.ts'
import { failJob } from '../../../../src/storage/jobs/finish-job.ts'
import { addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** What happened, for readers that wait for it. */
export const eventTests = createSuite()
const { test } = eventTests

const START = { tx: 0, seq: 0 }
const TIMEOUT_MS = 20_000

/**
 * Waits for a number of events after a place. Other tests run transactions on the same server of
 * databases, and events wait for those as well.
 */
async function waitForEvents(db: Db, from: EventCursor, count: number): Promise<StoredEvent[]> {
  const end = performance.now() + TIMEOUT_MS
  for (;;) {
    const events = await readEventsAfter(db, from, { limit: 100 })
    if (events.length >= count || performance.now() > end) return events
    await delay(20)
  }
}

test('every change of a job is one event of its account, in order', async ({ db }) => {
  const first = (await addJob(db))!
  const [before] = await waitForEvents(db, START, 1)
  assert.deepEqual(await lastEventCursor(db), { tx: before!.tx, seq: before!.seq })
  const job = await claim(db)
  await failJob(db, job!.lease, { failure: { code: 500, message: 'x' }, at: 1 })
  const second = (await addJob(db, { account: 'other' }))!
  const events = await waitForEvents(db, START, 4)
  assert.deepEqual(
    events.map(({ account, kind, jobId, status }) => [account, kind, jobId, status]),
    [
      ['acme', 'pre-recorded', first, 'queued'],
      ['acme', 'pre-recorded', first, 'processing'],
      ['acme', 'pre-recorded', first, 'error'],
      ['other', 'pre-recorded', second, 'queued'],
    ],
  )
  assert.ok(Math.abs(events[0]!.at - Date.now()) < 60_000)
  assert.deepEqual(await readEventsAfter(db, before!, { limit: 100 }), events.slice(1))
  assert.deepEqual(await readEventsAfter(db, events[0]!, { limit: 1 }), [events[1]])
  const ofAccount = await readEventsAfter(db, START, { account: 'other', limit: 100 })
  assert.deepEqual(ofAccount, [events[3]])
})

test('a rolled-back transaction records no event', async ({ db }) => {
  const failing = inTransaction(db, async (tx) => {
    await addJob(tx)
    throw new Error('undone')
  })
  await assert.rejects(failing, /undone/)
  assert.deepEqual(await readEventsAfter(db, START, { limit: 100 }), [])
  assert.deepEqual(await lastEventCursor(db), START)
})

test('an event waits for earlier transactions that are still running', async ({ db }) => {
  // Where one transaction runs at a time there are none.
  if (!db.dialect.lock) return
  const began = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const slow = inTransaction(db, async (tx) => {
    await addJob(tx, { account: 'slow' })
    began.resolve()
    await go.promise
  })
  await began.promise
  await addJob(db, { account: 'fast' })
  const early = await readEventsAfter(db, START, { limit: 100 })
  assert.deepEqual(early, [])
  go.resolve()
  await slow
  const events = await waitForEvents(db, START, 2)
  assert.deepEqual(
    events.map(({ account }) => account),
    ['slow', 'fast'],
  )
})

test('old events are deleted', async ({ db }) => {
  await addJob(db)
  await deleteEvents(db, { before: Date.now() - 60_000 })
  assert.equal((await waitForEvents(db, START, 1)).length, 1)
  await deleteEvents(db, { before: Date.now() + 60_000 })
  assert.deepEqual(await readEventsAfter(db, START, { limit: 100 }), [])
})
