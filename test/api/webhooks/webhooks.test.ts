/** Webhooks that are made, tested and removed over HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import type {
  ApiCreatedWebhook,
  ApiEndpoint,
  ApiEndpointList,
  ApiWebhookTest,
} from '../../../src/cli/client/api-types.ts'
import type { Scope } from '../../../src/storage/accounts/keys.ts'
import { syncConfiguredWebhooks } from '../../../src/storage/deliveries/endpoints/configured-webhooks.ts'
import {
  listDeliveries,
  listEndpoints,
  type ReportingServer,
  startReportingServer,
} from '../../support/delivery/reporting-server.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { OTHER_KEY } from '../../support/server/start-server.ts'

const path = '/v2/endpoints'

let server: ReportingServer
before(async () => {
  server = await startReportingServer()
})
after(() => server.close())

type Caller = { url: string; key: string }

function make(by: Caller, json: object) {
  return call<ApiCreatedWebhook & ErrorBody>(by, path, { json })
}

function remove(by: Caller, id: string) {
  return call<ErrorBody>(by, `${path}/${id}`, { method: 'DELETE' })
}

function trial(by: Caller, id: string) {
  return call<ApiWebhookTest>(by, `${path}/${id}/test`, { method: 'POST' })
}

async function codeOf(response: Promise<{ status: number; headers: Headers }>) {
  const { status, headers } = await response
  return [status, headers.get('x-error-code')]
}

test('a webhook is created with a secret shown once, gets signed events, is removed', async () => {
  const url = `${server.receiver.url}/made`
  const events = ['transcription.success']
  const { status, body, headers } = await make(server, { url, name: 'Büro', events })
  assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
  const { id, secret, ...view } = body
  assert.deepEqual(
    [view.kind, view.url, view.name, view.events, view.source, view.status],
    ['webhook', url, 'Büro', events, 'api', 'enabled'],
  )
  assert.ok(!JSON.stringify(await listEndpoints(server)).includes(secret))

  await server.run()
  const [event] = server.receiver.received.filter((one) => one.path === '/made')
  const sent = new Webhook(secret).verify(event!.body, event!.headers as Record<string, string>)
  assert.equal((sent as { event: string }).event, 'transcription.success')

  const { body: tested } = await trial(server, id)
  assert.deepEqual([tested.is_delivered, tested.status, tested.reason], [true, 200, null])
  assert.equal(server.receiver.received.filter((one) => one.path === '/made').length, 2)

  assert.equal((await remove(server, id)).status, 204)
  assert.deepEqual(await codeOf(remove(server, id)), [404, 'endpoint_not_found'])
  await server.run()
  assert.equal(server.receiver.received.filter((one) => one.path === '/made').length, 2)
  const { rows } = await server.app.storage.db.sql
    .selectFrom('audit_log')
    .select(['action', 'subject', 'source'])
    .execute()
    .then((rows) => ({ rows: rows.filter(({ subject }) => subject === id) }))
  assert.deepEqual(rows.map(({ action, source }) => `${action} ${source}`).sort(), [
    'webhook.created api',
    'webhook.removed api',
  ])
})

test('a failed test event reports the reason and is logged', async () => {
  server.answers.set('/broken', () => 500)
  const { body } = await make(server, { url: `${server.receiver.url}/broken` })
  const { body: tested } = await trial(server, body.id)
  assert.deepEqual([tested.is_delivered, tested.status], [false, 500])
  assert.match(tested.reason!, /500/)
  const logged = await listDeliveries(server, `endpoint_id=${body.id}`)
  assert.deepEqual(
    logged.map(({ id, event, status }) => [id, event, status]),
    [[tested.delivery_id, 'webhook.test', 'failed']],
  )
  await remove(server, body.id)
})

test('a webhook at a private address gets no requests, and its test reports it', async () => {
  const { body } = await make(server, { url: 'http://10.1.2.3/hook' })
  const { body: tested } = await trial(server, body.id)
  assert.deepEqual([tested.is_delivered, tested.status], [false, null])
  await remove(server, body.id)
})

test('webhook URLs are unique per account, and other accounts have no access', async () => {
  const url = `${server.receiver.url}/own`
  const { body } = await make(server, { url })
  assert.deepEqual(await codeOf(make(server, { url })), [409, 'webhook_exists'])
  const other = { url: server.url, key: OTHER_KEY }
  assert.deepEqual(await codeOf(remove(other, body.id)), [404, 'endpoint_not_found'])
  assert.deepEqual(await codeOf(trial(other, body.id)), [404, 'endpoint_not_found'])
  assert.deepEqual(await listEndpoints(other), [])
  assert.equal((await make(other, { url })).status, 201)
  await remove(server, body.id)
})

test('an admin key manages the receivers of all accounts, others only their own', async () => {
  const { db } = server.app.storage
  const url = `${server.receiver.url}/theirs`
  const { body } = await make({ url: server.url, key: OTHER_KEY }, { url })
  const { key } = await generateKey(db, { account: 'ops', scopes: ['read', 'write', 'admin'] })
  const operator = { url: server.url, key }
  const listed = async (by: Caller, account: string) => {
    const { body: page } = await call<ApiEndpointList>(by, `${path}?account=${account}`)
    return page.items.flatMap((item) => (item.id === body.id ? [item.account] : []))
  }
  assert.deepEqual(await listed(operator, '*'), ['other'])
  assert.deepEqual(await listed(operator, 'other'), ['other'])
  assert.deepEqual(await listed(operator, 'ops'), [])
  assert.deepEqual(await listEndpoints(operator), [], 'programs ask for those of their account')
  for (const account of ['*', 'other']) {
    const refused = call(server, `${path}?account=${account}`)
    assert.deepEqual(await codeOf(refused), [403, 'scope_missing'])
  }
  const change = (action: string) => {
    return call<ApiEndpoint>(operator, `${path}/${body.id}/${action}`, { method: 'POST' })
  }
  assert.equal((await change('disable')).body.disabled_reason, 'by the operator')
  assert.equal((await change('enable')).body.status, 'enabled')
  assert.equal((await trial(operator, body.id)).body.is_delivered, true)
  assert.equal((await remove(operator, body.id)).status, 204)
  const entries = await db.sql.selectFrom('audit_log').selectAll().execute()
  const removed = entries.find((one) => one.subject === body.id && one.action.endsWith('removed'))
  assert.equal(removed!.account, 'other')
})

test('creating a webhook requires the scopes read and write', async () => {
  const db = server.app.storage.db
  const json = { url: `${server.receiver.url}/sly` }
  for (const scopes of [['write'], ['read'], ['read', 'live', 'keys']] satisfies Scope[][]) {
    const { key } = await generateKey(db, { account: 'test', scopes })
    assert.deepEqual(await codeOf(make({ url: server.url, key }, json)), [403, 'scope_missing'])
  }
})

test('an invalid webhook is rejected with the reason', async () => {
  const wrong = [
    {},
    { url: 'ftp://a.example/' },
    { url: 'javascript:alert(1)' },
    { url: 'https://a.example/', events: [] },
    { url: 'https://a.example/', events: ['everything'] },
    { url: 'https://a.example/', name: '\u202Egnp' },
  ]
  for (const json of wrong) {
    assert.deepEqual(
      await codeOf(make(server, json)),
      [400, 'request_invalid'],
      JSON.stringify(json),
    )
  }
})

test('a configured webhook can only be disabled, and a callback is not a webhook', async () => {
  const { db } = server.app.storage
  const configured = { account: 'test', url: `${server.receiver.url}/configured` }
  await syncConfiguredWebhooks(db, [configured], { at: 1 })
  await server.callBack('/called')
  const endpoints = await listEndpoints(server)
  const { id } = endpoints.find(({ source }) => source === 'settings')!
  assert.deepEqual(await codeOf(remove(server, id)), [422, 'webhook_configured'])
  const callback = endpoints.find(({ kind }) => kind === 'callback')!
  assert.deepEqual(await codeOf(remove(server, callback.id)), [404, 'endpoint_not_found'])
  await syncConfiguredWebhooks(db, [], { at: 2 })
})

test('an account may have at most 50 webhooks', async () => {
  const { key } = await generateKey(server.app.storage.db, { account: 'many' })
  const many = { url: server.url, key }
  for (let i = 0; i < 50; i++) {
    assert.equal((await make(many, { url: `https://a.example/${i}` })).status, 201)
  }
  const late = make(many, { url: 'https://a.example/late' })
  assert.deepEqual(await codeOf(late), [422, 'too_many_webhooks'])
})
