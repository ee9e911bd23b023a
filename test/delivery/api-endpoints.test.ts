import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { EndpointView } from '../../src/api/schemas/webhooks/endpoint.ts'
import {
  callbackOf,
  listDeliveries,
  listEndpoints,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { call } from '../support/net/http-client.ts'
import { OTHER_KEY } from '../support/server/start-server.ts'

type EndpointPage = {
  items: EndpointView[]
  first: string
  current: string
  next: string | null
}

let server: ReportingServer

before(async () => {
  server = await startReportingServer((url) => ({
    STENO_WEBHOOKS: `test=${url.replace('//', '//me:secret@')}/account`,
    STENO_WEBHOOK_DISABLE_AFTER_DAYS: '1',
  }))
})
after(() => server.close())

/** Asks for a change of an endpoint. */
function change({ id }: Pick<EndpointView, 'id'>, to: 'enable' | 'disable', key = server.key) {
  return call<EndpointView>({ ...server, key }, `/v2/endpoints/${id}/${to}`, { method: 'POST' })
}

async function find(kind: EndpointView['kind']): Promise<EndpointView> {
  const { id } = (await listEndpoints(server)).find((one) => one.kind === kind)!
  return (await call<EndpointView>(server, `/v2/endpoints/${id}`)).body
}

test('the endpoints of an account are its webhooks and callback origins', async () => {
  await server.callBack('/a')
  await server.callBack('/b')
  const [webhook, callback, ...others] = await listEndpoints(server)
  assert.equal(others.length, 0)
  const { host } = new URL(server.receiver.url)
  const healthy = {
    name: null,
    events: null,
    status: 'enabled',
    failing_since: null,
    last_failure: null,
    account: 'test',
    disabled_at: null,
    disabled_reason: null,
  }
  for (const [endpoint, expected] of [
    [webhook, { kind: 'webhook', url: `http://***@${host}/account`, source: 'settings' }],
    [callback, { kind: 'callback', url: server.receiver.url, source: 'jobs' }],
  ] as const) {
    const { id, created_at, last_success_at, ...rest } = endpoint!
    assert.deepEqual(rest, { ...expected, ...healthy })
    assert.match(id, /^ep_[\da-f]{16}$/)
    assert.ok(Date.parse(last_success_at!) >= Date.parse(created_at))
  }
  assert.deepEqual(await find('callback'), callback)
})

test('endpoints are listed in pages by kind and status', async () => {
  const [webhook, callback] = await listEndpoints(server)
  const list = async (address: string) => {
    const { status, body } = await call<EndpointPage>(server, address)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const path = '/v2/endpoints?status=enabled&status=failing'
  const first = await list(`${path}&limit=1`)
  assert.deepEqual(first.items, [webhook])
  assert.equal(first.next, `${server.url}${path}&offset=1&limit=1`)
  const next = new URL(first.next)
  const second = await list(next.pathname + next.search)
  assert.deepEqual(
    [second.items, second.first, second.current, second.next],
    [[callback], first.current, first.next, null],
  )
  assert.deepEqual((await list('/v2/endpoints?kind=callback')).items, [callback])
  assert.deepEqual((await list('/v2/endpoints?status=disabled')).items, [])
  const most = await list('/v2/endpoints?limit=1000000')
  const { listMaxLimit } = server.app.config.http
  assert.equal(new URL(most.current).searchParams.get('limit'), `${listMaxLimit}`)
  const refused = await call(server, '/v2/endpoints?kind=email')
  assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [400, 'request_invalid'])
})

test('an endpoint is failing from a failure until a success', async () => {
  server.answers.set('/failing', () => 500)
  await server.callBack('/failing')
  const failing = await find('callback')
  assert.deepEqual(
    [failing.status, failing.last_failure],
    ['failing', 'the receiver responded with 500'],
  )
  assert.ok(failing.failing_since)
  server.answers.delete('/failing')
  await server.skip(10_000)
  const { status, failing_since } = await find('callback')
  assert.deepEqual([status, failing_since], ['enabled', null])
})

test('a disabled endpoint gets nothing until enabled, and failures can be resent', async () => {
  server.answers.set('/held', () => 500)
  const pending = await server.callBack('/held')
  const endpoint = await find('callback')
  const { status, body } = await change(endpoint, 'disable')
  assert.deepEqual([status, body.status, body.disabled_reason], [200, 'disabled', 'by the account'])
  assert.deepEqual((await change(endpoint, 'disable')).body, body)

  const from = server.receiver.at('/held').length
  const created = await server.callBack('/held')
  await server.skip(60_000)
  for (const job of [pending, created]) {
    const { status, reason, next_attempt_at } = await callbackOf(server, job)
    const received = 'the endpoint is disabled: by the account'
    assert.deepEqual([status, reason, next_attempt_at], ['failed', received, null])
  }
  assert.equal(server.receiver.at('/held').length, from)

  server.answers.delete('/held')
  const enabled = await change(endpoint, 'enable')
  const { status: now, disabled_at, disabled_reason, failing_since } = enabled.body
  assert.deepEqual(
    [enabled.status, now, disabled_at, disabled_reason, failing_since],
    [200, 'enabled', null, null, null],
  )
  const json = { since: body.disabled_at }
  const { resent } = (await call<{ resent: number }>(server, '/v2/deliveries/resend', { json }))
    .body
  assert.equal(resent, 2)
  await server.app.delivery.idle()
  assert.equal(server.receiver.at('/held').length, from + 2)
})

test('a webhook that responds with 410 is disabled with the reason', async () => {
  server.answers.set('/account', () => 410)
  const { id } = await server.run()
  const { status, disabled_reason } = await find('webhook')
  assert.deepEqual([status, disabled_reason], ['disabled', 'it responded with 410 (Gone)'])
  const received = await listDeliveries(server, `job_id=${id}`)
  assert.deepEqual([...new Set(received.map((one) => one.status))], ['failed'])
  server.answers.delete('/account')
  await change(await find('webhook'), 'enable')
  await server.run()
  assert.equal((await find('webhook')).status, 'enabled')
})

test('an endpoint that fails for days is disabled with the reason', async () => {
  server.answers.set('/dead', () => 500)
  const hour = 3_600_000
  for (let passed = 0; passed < 24; passed += 12) {
    await server.callBack('/dead')
    assert.equal((await find('callback')).status, 'failing')
    await server.skip(12 * hour)
  }
  await server.callBack('/dead')
  const { status, disabled_reason } = await find('callback')
  assert.deepEqual([status, disabled_reason], ['disabled', 'no delivery has succeeded for 1 day'])
})

test('unknown endpoints and those of another account get 404', async () => {
  const endpoint = await find('webhook')
  assert.deepEqual(await listEndpoints({ ...server, key: OTHER_KEY }), [])
  const responses = [
    await call({ ...server, key: OTHER_KEY }, `/v2/endpoints/${endpoint.id}`),
    await change(endpoint, 'disable', OTHER_KEY),
    await change(endpoint, 'enable', OTHER_KEY),
    await change({ id: 'ep_0000000000000000' }, 'enable'),
    await change({ id: '%00' }, 'disable'),
  ]
  for (const { status, headers } of responses) {
    assert.deepEqual([status, headers.get('x-error-code')], [404, 'endpoint_not_found'])
  }
  assert.deepEqual(await find('webhook'), endpoint)
})
