import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { addJob, claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { createLog } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { LeaseLostError, startHeartbeat } from './lease-heartbeat.ts'

const log = createLog('silent')
const stop = new AbortController().signal

async function claimNew(db: Db) {
  await addJob(db)
  return (await claim(db, { now: 5000, leaseMs: 1000 }))!
}

async function leaseUntil(db: Db): Promise<number> {
  const row = await db.sql.selectFrom('jobs').select('lease_until').executeTakeFirstOrThrow()
  return row.lease_until!
}

test('a lease is renewed until the heartbeat is closed', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 0, stop, renewIntervalMs: 5 })
  while ((await leaseUntil(db)) <= Date.now()) await delay(1)
  await watch.close()
  assert.equal(watch.signal.aborted, false)
  const last = await leaseUntil(db)
  await delay(20)
  assert.equal(await leaseUntil(db), last)
})

test('losing the lease aborts the attempt', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  await returnLost(db, { now: 10_000 })
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 0, stop, renewIntervalMs: 5 })
  t.after(() => watch.close())
  await once(watch.signal, 'abort')
  assert.ok(watch.signal.reason instanceof LeaseLostError)
})

test('exceeding the timeout aborts the attempt', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 0.01, stop })
  t.after(() => watch.close())
  await once(watch.signal, 'abort')
  assert.equal(watch.signal.reason.code, 'job_timeout')
  assert.match(watch.signal.reason.message, /0\.01 s \(STENO_JOB_TIMEOUT_S\)$/)
})

test('a closed heartbeat does not abort the attempt later', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 0.01, stop })
  await watch.close()
  await delay(30)
  assert.equal(watch.signal.aborted, false)
})

test('stopping the server aborts the attempt', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  const server = new AbortController()
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 0, stop: server.signal })
  t.after(() => watch.close())
  server.abort('going down')
  assert.equal(watch.signal.reason, 'going down')
})

test('untimed work does not count toward the timeout, which then restarts', async (t) => {
  const { db } = await openTestStorage(t)
  const { lease } = await claimNew(db)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const watch = startHeartbeat({ db, log, lease, timeoutSeconds: 10, stop })
  t.mock.timers.tick(9000)
  const work = Promise.withResolvers<void>()
  const waited = watch.withFreshTimeLimit(work.promise)
  t.mock.timers.tick(60_000)
  assert.equal(watch.signal.aborted, false)
  work.resolve()
  await waited
  t.mock.timers.tick(9999)
  assert.equal(watch.signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(watch.signal.reason.code, 'job_timeout')
  await watch.close()
})
