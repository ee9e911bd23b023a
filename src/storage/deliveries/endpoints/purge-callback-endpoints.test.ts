import assert from 'node:assert/strict'
import test from 'node:test'
import type { Insertable } from 'kysely'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { type Db, inTransaction } from '../../database/db.ts'
import type { EndpointRow } from '../../database/tables.ts'
import { MAX_FAILURE_GAP_MS } from '../deliveries.ts'
import { queueLiveCallbacks } from '../queue-deliveries.ts'
import { purgeCallbackEndpoints } from './purge-callback-endpoints.ts'

const NOW = 1e12

async function addEndpoint(
  db: Db,
  id: string,
  changes: Partial<Insertable<EndpointRow>> = {},
): Promise<void> {
  const row = { id, account: 'acme', kind: 'callback' as const, url: 'https://a.example' }
  const made = { source: 'jobs' as const, name: null, events: null, created_at: 1 }
  await db.sql
    .insertInto('endpoints')
    .values({ ...row, ...made, ...changes })
    .execute()
}

/** Purges everything possible; returns how many were purged, and the ids of those that stay. */
async function purgeAll(db: Db): Promise<[number, string[]]> {
  let sum = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { deleted, last } = await purgeCallbackEndpoints(db, { after, now: NOW })
    sum += deleted
    after = last
  }
  const rows = await db.sql.selectFrom('endpoints').select('id').orderBy('id').execute()
  return [sum, rows.map(({ id }) => id)]
}

test('only callback endpoints without deliveries are purged', async (t) => {
  const { db } = await openTestStorage(t)
  await addEndpoint(db, 'idle')
  await addEndpoint(db, 'webhook', { kind: 'webhook' })
  await addEndpoint(db, 'disabled', { disabled_at: 5, disabled_reason: 'gone' })
  assert.deepEqual(await purgeAll(db), [1, ['disabled', 'webhook']])
})

test('a callback endpoint is kept while its failures count toward disabling', async (t) => {
  const { db } = await openTestStorage(t)
  const failingSince = (at: number) => ({ failing_since: 1, last_failure_at: at })
  await addEndpoint(db, 'lately', failingSince(NOW - MAX_FAILURE_GAP_MS))
  await addEndpoint(db, 'before', failingSince(NOW - MAX_FAILURE_GAP_MS - 1))
  await addEndpoint(db, 'mended', { failing_since: null, last_failure_at: NOW })
  assert.deepEqual(await purgeAll(db), [2, ['lately']])
})

test('a callback endpoint is kept as long as it has deliveries', async (t) => {
  const { db } = await openTestStorage(t)
  const callback_config = { url: 'https://a.example/hook' }
  const queue = (id: string) => {
    const request_params = JSON.stringify({ callback: true, callback_config })
    const message = { seq: 0, event: 'live.transcript', body: '{}', body_object: null }
    const messages = [{ ...message, isDroppable: false }]
    const options = { at: 1, maxQueued: 10 }
    return inTransaction(db, (tx) => {
      return queueLiveCallbacks(tx, { id, account: 'acme', request_params }, messages, options)
    })
  }
  await queue('first')
  const [deleted, ids] = await purgeAll(db)
  assert.deepEqual([deleted, ids.length], [0, 1])
  await db.sql.updateTable('deliveries').set({ state: 'delivered', ended_at: 2 }).execute()
  assert.deepEqual(await purgeAll(db), [0, ids])
  await db.sql.deleteFrom('deliveries').execute()
  assert.deepEqual(await purgeAll(db), [1, []])
  await queue('second')
  assert.deepEqual(await purgeAll(db), [0, ids])
})

test('purging covers all endpoints in batches', async (t) => {
  const { db } = await openTestStorage(t)
  await inTransaction(db, async (tx) => {
    for (let i = 0; i < 1000; i++) {
      const kind = i % 2 === 0 ? 'webhook' : 'callback'
      await addEndpoint(tx, `ep_${String(i).padStart(4, '0')}`, { kind })
    }
  })
  const first = await purgeCallbackEndpoints(db, { after: '', now: NOW })
  assert.deepEqual(first, { deleted: 250, last: 'ep_0499' })
  const [deleted, ids] = await purgeAll(db)
  assert.deepEqual([deleted, ids.length], [250, 500])
})
