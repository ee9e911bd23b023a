import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { beginNewLiveJob } from '../../../test/support/live/sessions/test-live-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { createLog } from '../../observability/log.ts'
import { beginLiveJob } from '../../storage/live/live-jobs.ts'
import { LiveLeases } from './live-leases.ts'

/** Holds the leases of two sessions. */
async function holdTwo(t: TestContext) {
  const { db } = await openTestStorage(t)
  const leases = new LiveLeases({ db, log: createLog('silent') })
  const [first, second] = [await beginNewLiveJob(db), await beginNewLiveJob(db)]
  const [held, other] = [leases.hold(first.lease), leases.hold(second.lease)]
  t.after(() => {
    held.release()
    other.release()
  })
  await leases.renew()
  const take = () => beginLiveJob(db, first.lease.id, { owner: 'another', at: Date.now() })
  return { db, leases, held, other, take }
}

test('a lease is lost when another node takes it, and other leases are kept', async (t) => {
  const { leases, held, other, take } = await holdTwo(t)
  assert.ok(!held.lost.aborted)
  await take()
  await leases.renew()
  assert.deepEqual([held.lost.aborted, other.lost.aborted], [true, false])
})

test('a released lease is not reported as lost, even during renewal', async (t) => {
  const { leases, held, take } = await holdTwo(t)
  await take()
  const renewed = leases.renew()
  held.release()
  await renewed
  assert.ok(!held.lost.aborted)
})

test('while a session ends its lease is renewed, and a loss is not reported', async (t) => {
  const { db, leases, held, take } = await holdTwo(t)
  const untilOf = async () => {
    const rows = await db.sql.selectFrom('jobs').select('lease_until').orderBy('id').execute()
    return rows.reduce((sum, { lease_until }) => sum + (lease_until ?? 0), 0)
  }
  held.end()
  await db.sql.updateTable('jobs').set({ lease_until: 1 }).execute()
  await leases.renew()
  assert.ok((await untilOf()) > 2 * 1e12)
  await take()
  await leases.renew()
  assert.ok(!held.lost.aborted)
})

test('a lease is kept if its renewal fails', async (t) => {
  const { db, leases, held } = await holdTwo(t)
  await db.sql.schema.alterTable('jobs').renameTo('gone').execute()
  await leases.renew()
  assert.ok(!held.lost.aborted)
})
