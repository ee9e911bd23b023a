import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import {
  addWebhook,
  callbackTo,
  endNewJob,
} from '../../../test/support/delivery/test-deliveries.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  until,
} from '../../../test/support/delivery/test-delivery-service.ts'
import { DAY_MS } from '../../clock.ts'
import {
  disableEndpoint,
  enableEndpoint,
  findEndpoint,
} from '../../storage/deliveries/endpoints/endpoints.ts'

test('a webhook that responds with 410 is disabled, and its pending deliveries fail', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t, () => 410)
  const id = await addWebhook(db, { url: receiver.url })
  await endNewJob(db)
  await service.pass()
  const { disabledReason } = (await findEndpoint(db, { id }))!
  assert.equal(disabledReason, 'it responded with 410 (Gone)')
  const [created, ended] = await service.deliveries()
  assert.deepEqual([created!.state, created!.reason], ['failed', 'gone'])
  assert.equal(ended!.state, 'failed')
  assert.equal(ended!.reason, 'the endpoint is disabled: it responded with 410 (Gone)')
  assert.equal(receiver.received.length, 1)
})

test('a 410 disables the webhook before its next delivery becomes due', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t, () => 410)
  await addWebhook(db, { url: receiver.url })
  const hold = `create trigger held before update of disabled_at on endpoints
    begin select raise(fail, 'held'); end`
  await sql.raw(hold).execute(db.sql)
  await endNewJob(db)
  service.delivery.wake()
  await until(t, () => receiver.received.length === 1)
  for (let turns = 0; turns < 30; turns++) {
    service.delivery.wake()
    service.clock.advance(500)
    await new Promise(setImmediate)
  }
  const states = (await service.deliveries()).map(({ state, attempts }) => [state, attempts])
  assert.deepEqual(states, [
    ['due', 0],
    ['waiting', 0],
  ])
  await sql`drop trigger held`.execute(db.sql)
  await until(t, async () => {
    service.clock.advance(1000)
    return (await service.deliveries()).every(({ state }) => state === 'failed')
  })
  assert.equal(receiver.received.length, 1)
})

test('the receiver of a callback that responded with 410 is tried by the next job', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t, () => 410)
  await queueMessages(service, receiver.url)
  await service.pass()
  await queueMessages(service, receiver.url)
  await service.pass()
  assert.equal(receiver.received.length, 2)
})

test('an endpoint that fails for days is disabled until it is enabled again', async (t) => {
  const service = await openDelivery(t, { env: { STENO_WEBHOOK_DISABLE_AFTER_DAYS: '2' } })
  const { db } = service.storage
  let status = 500
  const receiver = await openTestReceiver(t, () => status)
  const id = await addWebhook(db, { url: receiver.url })
  await endNewJob(db)
  await service.pass()
  assert.equal((await findEndpoint(db, { id }))!.disabledAt, null, 'after a day it is still tried')

  await endNewJob(db, { at: service.clock.now() })
  await service.pass()
  const { disabledReason } = (await findEndpoint(db, { id }))!
  assert.equal(disabledReason, 'no delivery has succeeded for 2 days')
  const before = receiver.received.length
  await endNewJob(db)
  await service.pass()
  assert.equal(receiver.received.length, before, 'nothing is sent any more')

  status = 200
  await enableEndpoint(db, id)
  await endNewJob(db)
  await service.pass()
  assert.equal(receiver.received.length - before, 2)
})

test('a receiver that failed long ago gets all attempts when it fails again', async (t) => {
  const service = await openDelivery(t, { env: { STENO_WEBHOOK_DISABLE_AFTER_DAYS: '2' } })
  const { db } = service.storage
  const receiver = await openTestReceiver(t, () => 500)
  const id = await addWebhook(db, { url: receiver.url, events: 'transcription.error' })
  await endNewJob(db)
  await service.pass()
  service.clock.advance(30 * DAY_MS)
  await endNewJob(db)
  await service.pass()
  assert.equal((await findEndpoint(db, { id }))!.disabledAt, null)
  assert.equal(receiver.received.length, 16)
})

test('a success resets the disable-after-days period', async (t) => {
  const service = await openDelivery(t, { env: { STENO_WEBHOOK_DISABLE_AFTER_DAYS: '2' } })
  const { db } = service.storage
  const statuses = [500, 200]
  const receiver = await openTestReceiver(t, () => statuses.shift() ?? 500)
  const id = await addWebhook(db, { url: receiver.url, events: 'transcription.error' })
  for (let i = 0; i < 2; i++) {
    await endNewJob(db)
    await service.pass(() => receiver.received.length >= 2 + i)
    service.clock.advance(1.5 * DAY_MS)
  }
  assert.equal((await findEndpoint(db, { id }))!.disabledAt, null)
})

test('an endpoint disabled by a command gets no requests, and its deliveries fail', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t, () => 500)
  await endNewJob(db, { params: callbackTo(receiver.url) })
  await service.pass(() => receiver.received.length === 1)
  const { endpointId } = (await service.deliveries())[0]!
  const at = service.clock.now()
  await disableEndpoint(db, endpointId, { reason: 'by the operator', at })
  await service.pass()
  assert.equal(receiver.received.length, 1)
  const [delivery] = await service.deliveries()
  assert.equal(delivery!.reason, 'the endpoint is disabled: by the operator')
})

test('the backlog of a disabled endpoint fails in parts and does not delay a stop', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t)
  await service.delivery.close()
  await queueMessages(service, receiver.url, { count: 250 })
  const { endpointId } = (await service.deliveries())[0]!
  await disableEndpoint(db, endpointId, { reason: 'by the operator', at: 1 })
  const delivery = await service.reopen()
  const closing = Promise.withResolvers<void>()
  const updateTable = db.sql.updateTable.bind(db.sql)
  const update = t.mock.method(db.sql, 'updateTable', (table: never) => {
    closing.resolve(delivery.close())
    return updateTable(table)
  })
  await closing.promise
  update.mock.restore()
  const left = (await service.deliveries()).filter(({ endedAt }) => endedAt === null)
  assert.equal(left.length, 150)
  await service.reopen()
  await service.delivery.idle()
  const states = (await service.deliveries()).map(({ state }) => state)
  assert.deepEqual(new Set(states), new Set(['failed']))
  assert.equal(receiver.received.length, 0)
})

test('a waiting retry fails at once when its endpoint is disabled', async (t) => {
  const service = await openDelivery(t)
  const { db } = service.storage
  const receiver = await openTestReceiver(t, () => 500)
  const id = await addWebhook(db, { url: receiver.url })
  const now = service.clock.now()
  const failing = { failing_since: now - 30 * DAY_MS, last_failure_at: now }
  await db.sql.updateTable('endpoints').set(failing).where('id', '=', id).execute()
  await endNewJob(db)
  service.delivery.wake()
  await until(t, async () => (await service.deliveries()).every(({ state }) => state === 'failed'))
  assert.equal(receiver.received.length, 1)
})
