import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DeliveryView } from '../../src/api/schemas/webhooks/delivery.ts'
import { removeEndpoint } from '../../src/storage/deliveries/endpoints/endpoint-removal.ts'
import {
  callbackOf,
  listDeliveries,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { call, type ErrorBody } from '../support/net/http-client.ts'
import { OTHER_KEY } from '../support/server/start-server.ts'

let server: ReportingServer

before(async () => {
  server = await startReportingServer((url) => ({ STENO_WEBHOOKS: `test=${url}/account` }))
})
after(() => server.close())

/** Asks for a delivery to be sent again, and waits until that has been tried. */
async function resend({ id }: Pick<DeliveryView, 'id'>, init: RequestInit = {}) {
  const path = `/v2/deliveries/${id}/resend`
  const response = await call<DeliveryView & ErrorBody>(server, path, { method: 'POST', ...init })
  await server.app.delivery.idle()
  return response
}

/** Asks for all that failed to be sent again, and waits until that has been tried. */
async function resendFailed(json: Record<string, unknown>) {
  const response = await call<{ resent: number } & ErrorBody>(server, '/v2/deliveries/resend', {
    json,
  })
  await server.app.delivery.idle()
  return response
}

/**
 * Runs a job whose callback fails for good at a path of the receiver, which then is as good as new.
 */
async function fail(path: string) {
  server.answers.set(path, () => 410)
  const job = await server.callBack(path)
  server.answers.delete(path)
  return job
}

test('a failed delivery is resent with its id and body, and its attempts continue', async () => {
  const job = await fail('/failed')
  const failed = await callbackOf(server, job)
  assert.equal(failed.status, 'failed')
  const { status, body } = await resend(failed)
  assert.deepEqual(
    [status, body.id, body.status, body.reason, body.completed_at],
    [202, failed.id, 'pending', null, null],
  )
  const [first, second] = server.receiver.at('/failed')
  assert.equal(second!.headers['webhook-id'], first!.headers['webhook-id'])
  assert.equal(second!.body, first!.body)
  const { status: now, attempts } = await callbackOf(server, job)
  assert.equal(now, 'delivered')
  assert.deepEqual(
    attempts.map(({ number, status_code }) => [number, status_code]),
    [
      [1, 410],
      [2, 200],
    ],
  )
})

/** Far less than the minute after which the server looks by itself. */
const soon = { timeout: 20_000 }

test('a resent delivery is sent at once', soon, async () => {
  const one = await callbackOf(server, await fail('/soon'))
  await call(server, `/v2/deliveries/${one.id}/resend`, { method: 'POST' })
  await server.receiver.until('/soon', 2)
  await fail('/soon-too')
  await call(server, '/v2/deliveries/resend', { json: { since: '2000-01-01' } })
  await server.receiver.until('/soon-too', 2)
})

test('delivered and pending deliveries can be resent; the request body is ignored', async () => {
  const job = await server.callBack('/twice')
  await resend(await callbackOf(server, job), { body: 'anything' })
  assert.equal(server.receiver.at('/twice').length, 2)

  const statuses = [500, 200]
  server.answers.set('/waiting', () => statuses.shift())
  const waiting = await server.callBack('/waiting')
  const headers = { 'content-type': 'application/json' }
  assert.equal((await resend(await callbackOf(server, waiting), { headers })).status, 202)
  assert.equal((await callbackOf(server, waiting)).status, 'delivered')
})

test('failures since a time are resent, earlier ones are not', async () => {
  const early = await fail('/early')
  const late = await fail('/late')
  const since = (await callbackOf(server, late)).completed_at
  const { status, body } = await resendFailed({ since })
  assert.deepEqual([status, body], [202, { resent: 1 }])
  assert.equal((await callbackOf(server, late)).status, 'delivered')
  assert.equal((await callbackOf(server, early)).status, 'failed')
})

test('resending can be limited to one job or endpoint', async () => {
  const [one, two] = [await fail('/one'), await fail('/two')]
  const since = '2000-01-01'
  const { endpoint_id } = await callbackOf(server, one)
  const other = { since, endpoint_id: 'ep_0000000000000000', job_id: null }
  assert.deepEqual((await resendFailed(other)).body, { resent: 0 })
  const job_id = one.id.toUpperCase()
  assert.deepEqual((await resendFailed({ since, job_id })).body, { resent: 1 })
  assert.equal((await callbackOf(server, one)).status, 'delivered')
  assert.equal((await callbackOf(server, two)).status, 'failed')
  const { resent } = (await resendFailed({ since, endpoint_id })).body
  assert.ok(resent >= 1)
  assert.deepEqual(await listDeliveries(server, 'status=failed'), [])
})

for (const [json, line] of [
  [{}, 'since is required'],
  [{ since: 7 }, 'since must be an ISO 8601 date or date-time'],
  [{ since: 'yesterday' }, 'since must be an ISO 8601 date or date-time'],
  [{ since: '2026-01-01', job_id: 1 }, 'job_id must be a string'],
] as const) {
  test(`400 for ${JSON.stringify(json)}: ${line}`, async () => {
    const { status, body } = await resendFailed(json)
    assert.deepEqual([status, body.validation_errors], [400, [line]])
  })
}

test('resending failures requires a JSON body with a start time', async () => {
  const path = '/v2/deliveries/resend'
  const { status } = await call(server, path, { method: 'POST' })
  assert.equal(status, 415)
})

test('resending to a disabled or removed endpoint is rejected with the reason', async () => {
  const job = await fail('/closed')
  const failed = await callbackOf(server, job)
  const { endpoint_id } = failed
  await call(server, `/v2/endpoints/${endpoint_id}/disable`, { method: 'POST' })
  const refused = await resend(failed)
  assert.deepEqual(
    [refused.status, refused.headers.get('x-error-code')],
    [422, 'endpoint_disabled'],
  )
  assert.match(refused.body.message, new RegExp(`POST /v2/endpoints/${endpoint_id}/enable`))
  assert.deepEqual((await resendFailed({ since: '2000-01-01' })).body, { resent: 0 })

  await removeEndpoint(server.app.storage.db, endpoint_id, { reason: 'removed', at: Date.now() })
  const gone = await resend(failed)
  assert.deepEqual([gone.status, gone.headers.get('x-error-code')], [422, 'endpoint_gone'])
  assert.deepEqual((await resendFailed({ since: '2000-01-01' })).body, { resent: 0 })
  assert.equal(server.receiver.at('/closed').length, 1)
})

test('deliveries of another account cannot be resent', async () => {
  const job = await fail('/mine')
  const { id } = await callbackOf(server, job)
  const other = { ...server, key: OTHER_KEY }
  const { status } = await call(other, `/v2/deliveries/${id}/resend`, { method: 'POST' })
  assert.equal(status, 404)
  const json = { since: '2000-01-01' }
  assert.deepEqual((await call(other, '/v2/deliveries/resend', { json })).body, { resent: 0 })
  assert.equal((await callbackOf(server, job)).status, 'failed')
})
