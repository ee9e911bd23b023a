import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import type { Db } from '../../database/db.ts'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
  insertMissingWebhook,
  insertWebhook,
  listEndpoints,
  type NewWebhook,
} from './endpoints.ts'

const webhook: NewWebhook = {
  account: 'acme',
  url: 'https://a.example/hook',
  events: null,
  source: 'cli',
  name: null,
  createdAt: 7,
}

const healthy = {
  failingSince: null,
  lastFailure: null,
  lastSuccessAt: null,
  disabledAt: null,
  disabledReason: null,
}

async function idsOf(db: Db, options?: { account?: string }): Promise<string[]> {
  return (await listEndpoints(db, options)).map(({ id }) => id)
}

test('a webhook is found with its properties, by its account or without one', async (t) => {
  const { db } = await openTestStorage(t)
  const events: Endpoint['events'] = ['transcription.success', 'live.end_session']
  const id = await insertWebhook(db, { ...webhook, events, name: 'night job' })
  const stored = { ...webhook, ...healthy, id, kind: 'webhook', events, name: 'night job' }
  assert.match(id, /^ep_[\da-f]{16}$/)
  assert.deepEqual(await findEndpoint(db, { id }), stored)
  assert.deepEqual(await findEndpoint(db, { id, account: 'acme' }), stored)
  assert.equal(await findEndpoint(db, { id, account: 'other' }), undefined)
  assert.equal(await findEndpoint(db, { id: 'ep_0' }), undefined)
})

test('an account has one webhook per normalized URL', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, { ...webhook, name: 'first' })
  const again = { ...webhook, url: 'HTTPS://A.example:443/hook', name: 'second' }
  const taken = `Cannot add the webhook: ${id} has this address already, for the same account`
  await assert.rejects(insertWebhook(db, again), { message: taken })
  assert.deepEqual(await insertMissingWebhook(db, again), { id, isNew: false })
  assert.equal((await findEndpoint(db, { id }))?.name, 'first')
  const others = [
    await insertWebhook(db, { ...webhook, account: 'other' }),
    await insertWebhook(db, { ...webhook, url: 'https://a.example/other' }),
  ]
  assert.equal(new Set([id, ...others]).size, 3)
})

test('endpoints are listed by age, of one account or of all', async (t) => {
  const { db } = await openTestStorage(t)
  const young = await insertWebhook(db, { ...webhook, createdAt: 9 })
  const old = await insertWebhook(db, { ...webhook, account: 'other', createdAt: 5 })
  assert.deepEqual(await idsOf(db), [old, young])
  assert.deepEqual(await idsOf(db, { account: 'acme' }), [young])
})

test('an endpoint is disabled once, with the first reason', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, webhook)
  const other = await insertWebhook(db, { ...webhook, account: 'other' })
  assert.equal(await disableEndpoint(db, id, { reason: 'gone', at: 50 }), true)
  assert.equal(await disableEndpoint(db, id, { reason: 'again', at: 60 }), false)
  assert.equal(await disableEndpoint(db, 'ep_0', { reason: 'gone', at: 50 }), false)
  const { disabledAt, disabledReason } = (await findEndpoint(db, { id }))!
  assert.deepEqual([disabledAt, disabledReason], [50, 'gone'])
  assert.equal((await findEndpoint(db, { id: other }))?.disabledAt, null)
})

test('enabling an endpoint resets its failures, and not those of others', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, webhook)
  const other = await insertWebhook(db, { ...webhook, account: 'other' })
  await db.sql
    .updateTable('endpoints')
    .set({ failing_since: 40, last_failure: 'HTTP 500', last_success_at: 30 })
    .execute()
  await disableEndpoint(db, id, { reason: 'gone', at: 50 })
  assert.equal(await enableEndpoint(db, id), true)
  assert.equal(await enableEndpoint(db, 'ep_0'), false)
  const stored = { ...webhook, ...healthy, id, kind: 'webhook', lastSuccessAt: 30 }
  assert.deepEqual(await findEndpoint(db, { id }), stored)
  assert.equal((await findEndpoint(db, { id: other }))?.failingSince, 40)
})
