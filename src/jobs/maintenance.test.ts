import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { endNewJob } from '../../test/support/delivery/test-deliveries.ts'
import { addJob } from '../../test/support/jobs/test-jobs.ts'
import { addLiveJob, newLiveJob } from '../../test/support/live/sessions/test-live-jobs.ts'
import { openTestStorage } from '../../test/support/storage/test-storage.ts'
import { createLog } from '../observability/log.ts'
import { inTransaction } from '../storage/database/db.ts'
import { createJobWriter, findByIdempotencyKey } from '../storage/jobs/job-writer.ts'
import { failLiveJob } from '../storage/live/live-jobs.ts'
import { findLiveSession } from '../storage/live/session-tokens.ts'
import type { Orphans } from '../storage/objects/orphans/orphans.ts'
import { runMaintenance } from './maintenance.ts'

test('expired idempotency keys and session tokens are deleted', async (t) => {
  const { db } = await openTestStorage(t)
  const idempotency = { account: 'acme', key: 'k', fingerprint: 'f' }
  const old = newLiveJob({ createdAt: 1000 })
  await createJobWriter(db)(old, { maxQueued: 9, idempotency })
  await failLiveJob(db, old.id, { failure: { code: 408, message: 'late' }, at: 2000 })
  const open = await addLiveJob(db)
  const stop = new AbortController()
  const log = createLog('silent')
  const tidied = runMaintenance({ db, log, uploadTtl: 0, retentionDays: 0, signal: stop.signal })
  // It checks once before it waits.
  stop.abort()
  await tidied
  assert.equal(await findLiveSession(db, old.id), undefined)
  assert.ok(await findLiveSession(db, open.id))
  assert.equal(await findByIdempotencyKey(db, idempotency, { now: 2000 }), undefined)
})

test('the deletion of an expired job is reported to onDeleted', async (t) => {
  const { db } = await openTestStorage(t)
  const old = await endNewJob(db, { at: 2000 })
  await endNewJob(db, { at: Date.now() })
  const stop = new AbortController()
  const deleted: string[] = []
  const onDeleted = (jobId: string) => {
    deleted.push(jobId)
    stop.abort()
  }
  const log = createLog('silent')
  const { signal } = stop
  await runMaintenance({ db, log, uploadTtl: 0, retentionDays: 1, onDeleted, signal })
  assert.deepEqual(deleted, [old])
})

test('the expired objects of a store that is away wait for it', async (t) => {
  const { db } = await openTestStorage(t)
  await endNewJob(db, { at: 2000, result: { text: 'x'.repeat(300_000) } })
  const [id] = (await Array.fromAsync(db.objects.list())).flat()
  const stop = new AbortController()
  const waiting: string[] = []
  t.mock.method(db.deletions, 'delete', async (ids: readonly string[]) => {
    waiting.push(...ids)
    stop.abort()
  })
  const options = { log: createLog('silent'), uploadTtl: 0, retentionDays: 1, signal: stop.signal }
  await runMaintenance({ ...options, db, zeroRetentionWait: 0.01 })
  assert.ok(waiting.includes(id!))
})

test('the work of a job that ended on another server is removed', async (t) => {
  const { db, folder } = await openTestStorage(t)
  const [ended, active, running] = [await endNewJob(db), (await addJob(db))!, randomUUID()]
  const workFolder = join(folder, 'work')
  for (const id of [ended, active, running]) await mkdir(join(workFolder, id), { recursive: true })
  const stop = new AbortController()
  const work = { workFolder, findRunning: () => [running] }
  const options = { log: createLog('silent'), uploadTtl: 0, retentionDays: 0, ...work }
  const maintained = runMaintenance({ ...options, db, mayDelete: () => false, signal: stop.signal })
  stop.abort()
  await maintained
  assert.deepEqual((await readdir(workFolder)).sort(), [active, running].sort())
})

test('an orphan that got a row later is moved back before orphans expire', async (t) => {
  const { db, orphans } = await openTestStorage(t)
  await endNewJob(db, { at: 2000, result: { text: 'x'.repeat(300_000) } })
  const ids = (await Array.fromAsync(db.objects.list())).flat()
  const stop = new AbortController()
  for (const id of ids) await orphans!.add(id, stop)
  const deleteBefore: Orphans['deleteBefore'] = async (_, options) => {
    const deleted = await orphans!.deleteBefore(Number.POSITIVE_INFINITY, options)
    stop.abort()
    return deleted
  }
  const options = { log: createLog('silent'), uploadTtl: 0, retentionDays: 0, signal: stop.signal }
  await runMaintenance({ ...options, db, orphans: { ...orphans!, deleteBefore } })
  assert.deepEqual((await Array.fromAsync(db.objects.list())).flat(), ids)
})

test('no data expires while the clock is not trusted', async (t) => {
  const { db } = await openTestStorage(t)
  const old = await endNewJob(db, { at: 2000 })
  const stop = new AbortController()
  const { signal } = stop
  const requested: string[] = []
  function mayDelete(): boolean {
    requested.push('clock')
    stop.abort()
    return false
  }
  const log = createLog('silent')
  await runMaintenance({ db, log, uploadTtl: 1, retentionDays: 1, mayDelete, signal })
  assert.deepEqual(requested, ['clock'])
  assert.equal((await db.sql.selectFrom('jobs').select('id').executeTakeFirstOrThrow()).id, old)
})

test('one pass deletes a limited number of jobs', async (t) => {
  const { db } = await openTestStorage(t)
  await inTransaction(db, async (tx) => {
    for (let n = 0; n < 2050; n++) await addJob(tx, { createdAt: n + 1, maxQueued: 10_000 })
  })
  await db.sql.updateTable('jobs').set({ status: 'done', completed_at: 1 }).execute()
  const stop = new AbortController()
  const { signal } = stop
  async function deleteBefore(): Promise<number> {
    stop.abort()
    return 0
  }
  // Orphans are checked last.
  const orphans = { deleteBefore, async *list() {} } as unknown as Orphans
  const log = createLog('silent')
  await runMaintenance({ db, log, uploadTtl: 0, retentionDays: 1, orphans, signal })
  const left = await db.sql.selectFrom('jobs').select('id').execute()
  assert.equal(left.length, 50)
})
