import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { addWebhook, callbackTo, endNewJob } from '../../test/support/delivery/test-deliveries.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  until,
} from '../../test/support/delivery/test-delivery-service.ts'
import { claim } from '../../test/support/jobs/test-jobs.ts'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { fakeTimeouts } from '../../test/support/workers/fake-timeouts.ts'
import { inTransaction } from '../storage/database/db.ts'
import { findAttempts } from '../storage/deliveries/delivery-log.ts'
import { addSecret, generateSecret } from '../storage/deliveries/endpoints/signing-secrets.ts'
import { deleteEndedJob } from '../storage/jobs/deletion/delete-job.ts'

test('a queued callback is sent when woken, signed and logged', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const secret = generateSecret()
  await addSecret(db, { account: 'acme', endpointId: null, secret, at: 1 })
  const receiver = await openTestReceiver(t)
  await service.delivery.idle()
  const params = callbackTo(`${receiver.url}/done`, 'PUT')
  const jobId = await endNewJob(db, { params, result: { text: 'hello' }, metadata: { a: 1 } })
  service.delivery.wake()
  await service.delivery.idle()
  const { method, path, headers, body } = receiver.received[0]!
  assert.deepEqual([method, path, receiver.received.length], ['PUT', '/done', 1])
  assert.deepEqual(new Webhook(secret).verify(body, headers as never), {
    id: jobId,
    event: 'transcription.success',
    payload: { text: 'hello' },
    custom_metadata: { a: 1 },
  })
  const [delivery] = await service.deliveries(jobId)
  assert.equal(delivery!.state, 'delivered')
  assert.equal(headers['webhook-id'], delivery!.id)
  const [attempt] = (await findAttempts(db, [delivery!.id])).get(delivery!.id)!
  assert.deepEqual([attempt!.status, attempt!.responseBody], [200, 'heard'])
})

test('a configured secret signs when none is stored', async (t) => {
  const secret = generateSecret()
  const service = await openDelivery(t, { env: { STENO_WEBHOOK_SECRETS: `acme:${secret}` } })
  const receiver = await openTestReceiver(t)
  await queueMessages(service, receiver.url)
  await queueMessages(service, receiver.url, { account: 'other' })
  await service.delivery.idle()
  const [first, other] = receiver.received.toSorted((one) =>
    one.headers['webhook-signature'] ? -1 : 1,
  )
  new Webhook(secret).verify(first!.body, first!.headers as never)
  assert.equal(other!.headers['webhook-signature'], undefined)
})

test('a failing receiver is retried with the same id until it succeeds', async (t) => {
  const service = await openDelivery(t)
  const statuses = [500, 302, 404, 200]
  const receiver = await openTestReceiver(t, () => statuses.shift())
  const jobId = await queueMessages(service, receiver.url)
  await service.pass()
  const [delivery] = await service.deliveries(jobId)
  assert.deepEqual([delivery!.state, delivery!.attempts], ['delivered', 4])
  assert.deepEqual(await service.momentsOf(delivery!.id), [0, 1, 3, 8])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(new Set(ids), new Set([delivery!.id]))
  const seconds = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  assert.equal(seconds[3]! - seconds[0]!, 8)
})

test('after all attempts fail, the next delivery of the job follows', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, ({ body }) => (body.includes('"seq":0') ? 500 : 200))
  const jobId = await queueMessages(service, receiver.url, { count: 2 })
  await service.pass()
  const [first, second] = await service.deliveries(jobId)
  assert.deepEqual([first!.state, first!.reason], ['failed', 'the receiver responded with 500'])
  assert.deepEqual(await service.momentsOf(first!.id), [0, 1, 3, 8, 23, 53])
  assert.deepEqual([second!.state, second!.attempts], ['delivered', 1])
})

test('a callback of a recording has eight attempts over most of a day', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, () => 500)
  const jobId = await endNewJob(service.storage.db, { params: callbackTo(receiver.url) })
  await service.pass()
  const [delivery] = await service.deliveries(jobId)
  assert.equal(delivery!.state, 'failed')
  const moments = [0, 5, 35, 155, 755, 4355, 18_755, 61_955]
  assert.deepEqual(await service.momentsOf(delivery!.id), moments)
})

test("a receiver's Retry-After is respected", async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, ({ path }, response) => {
    if (receiver.at(path).length > 1) return 200
    response.setHeader('retry-after', '600')
    return 503
  })
  const jobId = await queueMessages(service, `${receiver.url}/busy`)
  await service.pass()
  const [delivery] = await service.deliveries(jobId)
  assert.deepEqual(await service.momentsOf(delivery!.id), [0, 600])
})

test('a redirect is a failure and is not followed', async (t) => {
  const service = await openDelivery(t)
  const target = await openTestReceiver(t)
  const receiver = await openTestReceiver(t, (_, response) => {
    response.setHeader('location', target.url)
    return 308
  })
  await queueMessages(service, receiver.url)
  await service.pass()
  assert.equal(receiver.received.length, 6)
  assert.equal(target.received.length, 0)
})

test('after a 410 the receiver gets no more events of that job, but of others', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, ({ path }) => (path === '/gone' ? 410 : 200))
  const gone = await queueMessages(service, `${receiver.url}/gone`, { count: 3 })
  const other = await queueMessages(service, `${receiver.url}/here`, { count: 2 })
  await service.pass()
  const ends = (await service.deliveries(gone)).map(({ state, reason }) => [state, reason])
  assert.deepEqual(ends, Array(3).fill(['failed', 'gone']))
  assert.equal(receiver.at('/gone').length, 1)
  assert.equal(receiver.at('/here').length, 2)
  assert.ok((await service.deliveries(other)).every(({ state }) => state === 'delivered'))
})

test('a receiver that never responds does not delay others', async (t) => {
  const service = await openDelivery(t, { timeout: 600 })
  const stalled = await openTestReceiver(t, () => undefined)
  const healthy = await openTestReceiver(t)
  for (let i = 0; i < 40; i++) await queueMessages(service, stalled.url)
  for (let i = 0; i < 10; i++) await queueMessages(service, healthy.url, { count: 5 })
  service.delivery.wake()
  await until(t, () => {
    // The next delivery of a sequence is due when the previous one has ended, some milliseconds
    // from now.
    service.clock.advance(1)
    return healthy.received.length === 50 && stalled.received.length === 4
  })
})

test('a failing delivery does not delay those of other jobs', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, ({ path }) => (path === '/bad' ? 500 : 200))
  const bad = await queueMessages(service, `${receiver.url}/bad`, { count: 2 })
  await queueMessages(service, `${receiver.url}/good`, { count: 2 })
  await service.pass(() => receiver.at('/good').length === 2)
  const states = (await service.deliveries(bad)).map(({ state }) => state)
  assert.deepEqual(states, ['due', 'waiting'])
})

test('a private receiver is never contacted, and the delivery has the reason', async (t) => {
  const canary = await openTestReceiver(t)
  const service = await openDelivery(t, { env: { STENO_ALLOW_PRIVATE_NETWORK: 'false' } })
  const jobId = await queueMessages(service, canary.url)
  await service.pass()
  assert.equal(canary.received.length, 0)
  const [delivery] = await service.deliveries(jobId)
  assert.deepEqual([delivery!.state, delivery!.reason], ['failed', 'it is not a public address'])
})

test('a request interrupted by a stop is sent again with the same id', async (t) => {
  const service = await openDelivery(t)
  let isStalled = true
  const receiver = await openTestReceiver(t, () => (isStalled ? undefined : 200))
  const jobId = await queueMessages(service, receiver.url, { count: 2 })
  service.delivery.wake()
  await until(t, () => receiver.received.length === 1)
  await service.delivery.close()
  const [cut] = await service.deliveries(jobId)
  assert.deepEqual([cut!.state, cut!.attempts], ['due', 0])
  isStalled = false
  await service.reopen()
  await service.pass()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids.length, 3)
  assert.equal(ids[0], ids[1])
  assert.notEqual(ids[1], ids[2])
})

test('a response received while the server stops is recorded', async (t) => {
  const service = await openDelivery(t, { graceMs: 60_000 })
  const retryAfter = Promise.withResolvers<() => void>()
  const receiver = await openTestReceiver(t, (_, response) => {
    retryAfter.resolve(() => void response.writeHead(200).end())
    return undefined
  })
  const jobId = await queueMessages(service, receiver.url)
  service.delivery.wake()
  const answer = await retryAfter.promise
  const closed = service.delivery.close()
  answer()
  await closed
  assert.equal((await service.deliveries(jobId))[0]!.state, 'delivered')
})

test('deleting a job deletes its deliveries and aborts a running one', async (t) => {
  const service = await openDelivery(t, { timeout: 600 })
  const { db } = service.storage
  const cut = Promise.withResolvers<void>()
  const receiver = await openTestReceiver(t, (_, response) => {
    response.on('close', () => cut.resolve())
    return undefined
  })
  const id = await endNewJob(db, { params: callbackTo(receiver.url) })
  service.delivery.wake()
  await until(t, () => receiver.received.length === 1)
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id, account: 'acme' }))
  service.delivery.abortJob(id)
  await cut.promise
  await service.delivery.idle()
  assert.deepEqual(await service.deliveries(), [])
  const log = await db.sql.selectFrom('delivery_attempts').selectAll().execute()
  assert.deepEqual(log, [])
})

test('a job deleted after its deliveries were read sends nothing', async (t) => {
  const service = await openDelivery(t)
  const { sql } = service.storage.db
  const receiver = await openTestReceiver(t)
  const jobId = await queueMessages(service, receiver.url)
  const selectFrom = sql.selectFrom.bind(sql)
  let deleted: Promise<unknown> | undefined
  t.mock.method(sql, 'selectFrom', (table: never) => {
    // The last statement before the request is sent.
    if (table === 'signing_secrets' && !deleted) {
      service.delivery.abortJob(jobId)
      deleted = sql.deleteFrom('deliveries').where('job_id', '=', jobId).execute()
    }
    return selectFrom(table)
  })
  service.delivery.wake()
  await until(t, () => deleted !== undefined)
  await deleted
  await service.delivery.idle()
  assert.equal(receiver.received.length, 0)
})

test('a lost result counts as a failed attempt each time', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t)
  const result = { text: 'x'.repeat(300_000) }
  const jobId = await endNewJob(db, { params: callbackTo(receiver.url), result })
  const { result_object: object } = await db.sql
    .selectFrom('jobs')
    .select('result_object')
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow()
  await db.objects.delete(object!)
  await service.pass()
  const [delivery] = await service.deliveries(jobId)
  assert.deepEqual([delivery!.state, delivery!.attempts], ['failed', 8])
  assert.equal(delivery!.reason, 'its body cannot be read from storage')
  assert.equal(receiver.received.length, 0)
})

test('a result of several megabytes arrives complete with a valid signature', async (t) => {
  const secret = generateSecret()
  const service = await openDelivery(t, { env: { STENO_WEBHOOK_SECRETS: `acme:${secret}` } })
  const receiver = await openTestReceiver(t)
  const result = { text: 'Grüße 🎙 '.repeat(100_000) }
  await endNewJob(service.storage.db, { params: callbackTo(receiver.url), result })
  service.delivery.wake()
  await service.delivery.idle()
  const { body, headers } = receiver.received[0]!
  const reported = new Webhook(secret).verify(body, headers as never) as { payload: unknown }
  assert.deepEqual(reported.payload, result)
})

test('webhooks receive the events they subscribe to', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t)
  await addWebhook(db, { url: `${receiver.url}/all` })
  await addWebhook(db, { url: `${receiver.url}/errors`, events: 'transcription.error' })
  const id = await endNewJob(db, { result: {} })
  await service.pass()
  const reported = receiver.at('/all').map(({ body }) => JSON.parse(body))
  assert.deepEqual(reported, [
    { event: 'transcription.created', payload: { id } },
    { event: 'transcription.success', payload: { id } },
  ])
  assert.equal(receiver.at('/errors').length, 0)
  assert.equal(await claim(db), undefined)
})

test('configured webhooks receive events', async (t) => {
  const receiver = await openTestReceiver(t)
  const service = await openDelivery(t, { env: { STENO_WEBHOOKS: `acme=${receiver.url}/hook` } })
  await endNewJob(service.storage.db)
  await service.pass()
  assert.equal(receiver.at('/hook').length, 2)
})

test('a database that cannot be asked for due deliveries is logged once per outage', async (t) => {
  const { log, lines } = captureLog()
  const { delivery, storage } = await openDelivery(t, { log })
  await delivery.idle()
  const pauses = fakeTimeouts(t, 1000)
  const reads = t.mock.method(storage.db.reader, 'getExecutor', () => {
    throw new Error('the database is away')
  })
  while (reads.mock.callCount() < 3) {
    pauses.pass()
    delivery.wake()
    await turn()
  }
  reads.mock.restore()
  while (!lines.some(({ msg }) => msg.includes('again'))) {
    pauses.pass()
    delivery.wake()
    await turn()
  }
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['cannot look up due deliveries', 'looking up due deliveries again'],
  )
})
