import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../src/api/auth/generate-key.ts'
import type { DeliveryView } from '../../src/api/schemas/webhooks/delivery.ts'
import {
  type DeliveryList,
  listDeliveries,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { call, type ErrorBody } from '../support/net/http-client.ts'
import { OTHER_KEY } from '../support/server/start-server.ts'

const UNKNOWN = '00000000-0000-0000-0000-000000000000'

let server: ReportingServer

before(async () => {
  server = await startReportingServer((url) => ({
    STENO_WEBHOOKS: `test=${url}/account`,
    STENO_LIST_MAX_LIMIT: '10',
  }))
})
after(() => server.close())

test('the log shows the deliveries of a job with attempts, newest first', async () => {
  const { id } = await server.callBack('/hook')
  const [success, callback, created] = await listDeliveries(server, `job_id=${id}`)
  const { attempts, created_at, completed_at, ...rest } = callback!
  const [received] = server.receiver.at('/hook')
  assert.deepEqual(rest, {
    id: received!.headers['webhook-id'],
    job_id: id,
    endpoint_id: rest.endpoint_id,
    kind: 'callback',
    event: 'transcription.success',
    method: 'POST',
    url: `${server.receiver.url}/hook`,
    status: 'delivered',
    reason: null,
    attempt_count: 1,
    next_attempt_at: null,
  })
  assert.ok(Date.parse(created_at) <= Date.parse(completed_at!))
  const [{ at, duration_ms, request_headers, response_headers, ...attempt }] = attempts as [
    DeliveryView['attempts'][0],
  ]
  assert.deepEqual(attempt, { number: 1, status_code: 200, error: null, response_body: 'heard' })
  assert.ok(Date.parse(at) >= Date.parse(created_at) && duration_ms >= 0)
  assert.equal(request_headers['content-length'], String(Buffer.byteLength(received!.body)))
  assert.equal(response_headers!['content-type'], 'text/plain')
  for (const [delivery, event] of [
    [success, 'transcription.success'],
    [created, 'transcription.created'],
  ] as const) {
    assert.deepEqual([delivery!.kind, delivery!.event], ['webhook', event])
  }
  assert.deepEqual((await call(server, `/v2/deliveries/${rest.id}`)).body, callback)
})

test('filters are combined, and each narrows the list', async () => {
  server.answers.set('/refusing', () => 410)
  const { id: refused } = await server.callBack('/refusing')
  const { id: other } = await server.callBack('/hook')
  const all = await listDeliveries(server)
  const day = all[0]!.created_at.slice(0, 10)
  const tomorrow = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  const webhook = all.find(({ kind }) => kind === 'webhook')!.endpoint_id
  const moment = all.at(-2)!.created_at

  const cases: [query: string, passes: (one: DeliveryView) => boolean][] = [
    [`job_id=${other}`, (one) => one.job_id === other],
    [`job_id=${other.toUpperCase()}`, (one) => one.job_id === other],
    [`job_id=${other}&endpoint_id=${webhook}`, (o) => o.job_id === other && o.kind === 'webhook'],
    ['status=failed', (one) => one.status === 'failed'],
    ['status=failed,delivered', () => true],
    ['status[]=pending&status[]=failed', (one) => one.status === 'failed'],
    ['status=', () => true],
    ['event=transcription.created', (one) => one.event === 'transcription.created'],
    ['event=transcription.created&event=transcription.success', () => true],
    ['event=live.transcript', () => false],
    [`date=${day}`, () => true],
    [`date=${tomorrow}`, () => false],
    [`after_date=${moment}`, (one) => one.created_at > moment],
    [`before_date=${moment}`, (one) => one.created_at < moment],
    [`job_id=${UNKNOWN}`, () => false],
  ]
  assert.ok(all.some(({ job_id, status }) => job_id === refused && status === 'failed'))
  for (const [query, passes] of cases) {
    assert.deepEqual(await listDeliveries(server, query), all.filter(passes), query)
  }
})

test('following pages lists every delivery once and keeps the filters', async () => {
  const all = await listDeliveries(server)
  const found: DeliveryView[] = []
  let next: string | null = '/v2/deliveries?status=delivered,failed&limit=2'
  while (next !== null) {
    const { body }: { body: DeliveryList } = await call<DeliveryList>(server, next)
    found.push(...body.items)
    next = body.next
  }
  assert.ok(all.length > 4 && all.length < 10)
  assert.deepEqual(found, all)
  const { body } = await call<DeliveryList>(server, '/v2/deliveries/?event=a&offset=2&limit=99')
  const url = `${server.url}/v2/deliveries?event=a`
  assert.deepEqual(body, {
    first: `${url}&offset=0&limit=10`,
    current: `${url}&offset=2&limit=10`,
    next: null,
    items: [],
  })
})

for (const [query, line] of [
  ['status=done', 'status must be one of: pending, delivered, failed'],
  ['limit=0', 'limit must not be less than 1'],
  ['date=monday', 'date must be an ISO 8601 date or date-time'],
  ['job_id=a&job_id=b', 'job_id must be a string'],
] as const) {
  test(`?${query} gets 400: ${line}`, async () => {
    const { status, body } = await call<ErrorBody>(server, `/v2/deliveries?${query}`)
    assert.deepEqual([status, body.validation_errors], [400, [line]])
  })
}

test('deleting a job deletes its deliveries, also pending ones', async () => {
  server.answers.set('/late', () => 500)
  const { id } = await server.callBack('/late')
  const deliveries = await listDeliveries(server, `job_id=${id}`)
  assert.deepEqual(
    new Set(deliveries.map(({ status }) => status)),
    new Set(['pending', 'delivered']),
  )
  assert.equal((await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })).status, 202)
  assert.deepEqual(await listDeliveries(server, `job_id=${id}`), [])
  for (const delivery of deliveries) {
    assert.equal((await call(server, `/v2/deliveries/${delivery.id}`)).status, 404)
  }
  await server.skip(60_000)
  assert.equal(server.receiver.at('/late').length, 1)
})

test('deleting a job aborts its running delivery', async () => {
  const arrived = Promise.withResolvers<void>()
  const cutOff = Promise.withResolvers<void>()
  server.answers.set('/stalled', (_one, response) => {
    response.once('close', cutOff.resolve)
    arrived.resolve()
    return undefined
  })
  const json = { audio_url: server.audioUrl, callback_url: `${server.receiver.url}/stalled` }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await arrived.promise
  const deleted = await call(server, `/v2/pre-recorded/${body.id}`, { method: 'DELETE' })
  assert.equal(deleted.status, 202)
  await cutOff.promise
  await server.skip(60_000)
  assert.equal(server.receiver.at('/stalled').length, 1)
})

test('unknown deliveries and those of another account get 404', async () => {
  const [{ id } = { id: '' }] = await listDeliveries(server)
  const other = { ...server, key: OTHER_KEY }
  assert.deepEqual(await listDeliveries(other), [])
  for (const [caller, path] of [
    [other, id],
    [server, UNKNOWN],
    [server, 'resend'],
    [server, '%00'],
  ] as const) {
    const { status, headers } = await call(caller, `/v2/deliveries/${path}`)
    assert.deepEqual([status, headers.get('x-error-code')], [404, 'delivery_not_found'], path)
  }
})

test('reading deliveries requires the scope read, changing them write', async () => {
  const { db } = server.app.storage
  const reads = ['/v2/deliveries', `/v2/deliveries/${UNKNOWN}`, '/v2/endpoints', '/v2/endpoints/a']
  const writes = [
    '/v2/deliveries/resend',
    `/v2/deliveries/${UNKNOWN}/resend`,
    '/v2/endpoints/a/enable',
    '/v2/endpoints/a/disable',
  ]
  for (const scope of ['read', 'write', 'live'] as const) {
    const { key } = await generateKey(db, { account: 'test', scopes: [scope] })
    const isRefused = async (path: string, method: string) => {
      return (await call({ ...server, key }, path, { method })).status === 403
    }
    for (const path of reads) assert.equal(await isRefused(path, 'GET'), scope !== 'read', path)
    for (const path of writes) assert.equal(await isRefused(path, 'POST'), scope !== 'write', path)
  }
})

test('HEAD responds like GET without a body', async () => {
  const { status, body } = await call<string>(server, '/v2/deliveries', { method: 'HEAD' })
  assert.deepEqual([status, body], [200, ''])
})
