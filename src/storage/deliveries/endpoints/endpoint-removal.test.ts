import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import type { Db } from '../../database/db.ts'
import { queueWebhooks } from '../queue-deliveries.ts'
import { syncConfiguredWebhooks } from './configured-webhooks.ts'
import { removeEndpoint } from './endpoint-removal.ts'
import {
  disableEndpoint,
  findEndpoint,
  insertWebhook,
  listEndpoints,
  type NewWebhook,
} from './endpoints.ts'
import { addSecret, signingSecrets } from './signing-secrets.ts'

const webhook: NewWebhook = {
  account: 'acme',
  url: 'https://a.example/hook',
  events: null,
  source: 'cli',
  name: null,
  createdAt: 7,
}
const job = { id: 'job', account: 'acme' }

/** Returns the log: endpoint, state and reason of each delivery. */
async function readLog(db: Db) {
  const rows = await db.sql
    .selectFrom('deliveries')
    .select(['endpoint_id', 'state', 'reason', 'ended_at'])
    .orderBy('endpoint_id')
    .orderBy('seq')
    .execute()
  return rows.map((row) => [row.endpoint_id, row.state, row.reason, row.ended_at])
}

test('removing an endpoint deletes its secrets and fails its pending deliveries', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, webhook)
  await addSecret(db, { account: 'acme', endpointId: id, secret: 'own', at: 1 })
  await addSecret(db, { account: 'acme', endpointId: null, secret: 'shared', at: 1 })
  await queueWebhooks(db, job, ['transcription.created', 'transcription.success'], { at: 8 })

  assert.equal(await removeEndpoint(db, id, { reason: 'removed', at: 9 }), true)
  const failed = [id, 'failed', 'removed', 9]
  assert.deepEqual(await readLog(db), [failed, failed])
  assert.equal(await findEndpoint(db, { id }), undefined)
  const secrets = await signingSecrets(db, { account: 'acme', endpointId: id, now: 9 })
  assert.deepEqual(secrets, ['shared'])
  assert.equal(await removeEndpoint(db, id, { reason: 'removed', at: 9 }), false)
})

test('removing an endpoint does not affect others', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, webhook)
  const other = await insertWebhook(db, { ...webhook, url: 'https://b.example/' })
  await addSecret(db, { account: 'acme', endpointId: other, secret: 'own', at: 1 })
  await queueWebhooks(db, job, ['transcription.created'], { at: 8 })
  await removeEndpoint(db, id, { reason: 'removed', at: 9 })
  const log = await readLog(db)
  assert.deepEqual(log.find(([endpoint]) => endpoint === other)?.[1], 'due')
  assert.equal((await findEndpoint(db, { id: other }))?.disabledAt, null)
  const secrets = await signingSecrets(db, { account: 'acme', endpointId: other, now: 9 })
  assert.deepEqual(secrets, ['own'])
})

test('an interrupted removal leaves a disabled endpoint and can be repeated', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await insertWebhook(db, webhook)
  await queueWebhooks(db, job, ['transcription.created'], { at: 8 })
  await sql`create trigger broken before update on deliveries
    begin select raise(abort, 'broken'); end`.execute(db.sql)
  await assert.rejects(removeEndpoint(db, id, { reason: 'removed', at: 9 }), /broken/)
  assert.equal((await findEndpoint(db, { id }))?.disabledAt, 9)
  await sql`drop trigger broken`.execute(db.sql)
  assert.equal(await removeEndpoint(db, id, { reason: 'removed', at: 10 }), true)
})

test('configured webhooks are created and removed with the settings', async (t) => {
  const { db } = await openTestStorage(t)
  const [first, second] = [
    { account: 'acme', url: 'https://a.example' },
    { account: 'other', url: 'https://b.example' },
  ]
  await syncConfiguredWebhooks(db, [first!, second!], { at: 5 })
  const [made] = await listEndpoints(db, { account: 'acme' })
  const { account, url, events, source, createdAt } = made!
  assert.deepEqual(
    [account, url, events, source, createdAt],
    ['acme', 'https://a.example/', null, 'settings', 5],
  )
  await queueWebhooks(db, job, ['live.start_session'], { at: 6 })
  await syncConfiguredWebhooks(db, [second!], { at: 8 })
  assert.deepEqual(
    (await listEndpoints(db)).map((endpoint) => endpoint.account),
    ['other'],
  )
  const reason = 'it was removed from STENO_WEBHOOKS'
  assert.deepEqual(await readLog(db), [[made!.id, 'failed', reason, 8]])
})

test('configured webhooks keep their state, and those of commands are kept', async (t) => {
  const { db } = await openTestStorage(t)
  const webhookId = await insertWebhook(db, { ...webhook, events: ['live.end_session'] })
  const configured = [
    { account: 'acme', url: webhook.url },
    { account: 'acme', url: 'https://b.example/' },
  ]
  await syncConfiguredWebhooks(db, configured, { at: 8 })
  const before = await listEndpoints(db)
  const { id } = before.find(({ source }) => source === 'settings')!
  await disableEndpoint(db, id, { reason: 'gone', at: 9 })
  await syncConfiguredWebhooks(db, configured, { at: 10 })
  assert.equal((await findEndpoint(db, { id }))?.disabledReason, 'gone')
  const { events, source } = (await findEndpoint(db, { id: webhookId }))!
  assert.deepEqual([events, source], [['live.end_session'], 'cli'])
  await syncConfiguredWebhooks(db, [], { at: 11 })
  assert.deepEqual(
    (await listEndpoints(db)).map((endpoint) => endpoint.id),
    [webhookId],
  )
})
