import assert from 'node:assert/strict'
import test from 'node:test'
import { addDue } from '../../test/support/delivery/test-deliveries.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  TestClock,
  until,
} from '../../test/support/delivery/test-delivery-service.ts'
import { openTestStorage } from '../../test/support/storage/test-storage.ts'
import { inTransaction } from '../storage/database/db.ts'
import { MAX_DUE_ENDPOINTS } from '../storage/deliveries/deliveries.ts'
import { DuePoller } from './due-poller.ts'

const MINUTE_MS = 60_000

test('deliveries queued by another process are sent within a minute', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t)
  await service.delivery.idle()
  await queueMessages(service, receiver.url)
  await until(t, () => {
    service.clock.advance(MINUTE_MS)
    return receiver.received.length === 1
  })
})

test('the poller polls on request and once a minute', async (t) => {
  const { db } = await openTestStorage(t)
  const clock = new TestClock()
  let ready = Promise.withResolvers<void>()
  const poller = new DuePoller({ db, clock, onReady: () => ready.resolve() })
  t.after(() => poller.close())
  await queueMessages({ storage: { db } as never, clock }, 'http://a.example/')

  const first = poller.poll()
  assert.equal(poller.requestPoll(), false)
  assert.equal((await poller.poll()).length, 0, 'it is being looked')
  assert.equal((await first).length, 1)
  await ready.promise
  ready = Promise.withResolvers()
  assert.equal((await poller.poll()).length, 1, 'what was queued meanwhile is not missed')
  assert.equal((await poller.poll()).length, 0, 'nobody asked')
  assert.equal(poller.requestPoll(), false)
  assert.equal((await poller.poll()).length, 0, 'it was looked a moment ago')
  await ready.promise
  assert.equal(poller.requestPoll(), true)
  assert.equal((await poller.poll()).length, 1)
  ready = Promise.withResolvers()
  clock.advance(MINUTE_MS)
  poller.requestPoll()
  await ready.promise
  assert.equal((await poller.poll()).length, 1)
})

test('deliveries do not wait for days after the clock is turned back', async (t) => {
  const service = await openDelivery(t)
  const { clock } = service
  let status = 500
  const receiver = await openTestReceiver(t, () => status)
  await queueMessages(service, receiver.url)
  await service.pass(() => receiver.received.length === 1)
  status = 200
  clock.advance(-3 * 24 * 60 * MINUTE_MS)
  await service.delivery.idle()
  await service.pass()
  assert.equal(receiver.received.length, 2)
  const [delivery] = await service.deliveries()
  assert.ok(delivery!.endedAt! < clock.now() + MINUTE_MS)
})

test('a retry is not delayed by a clock that is turned back an hour', async (t) => {
  const service = await openDelivery(t)
  const { clock } = service
  const statuses = [500, 200]
  const receiver = await openTestReceiver(t, () => statuses.shift())
  const jobId = await queueMessages(service, receiver.url)
  await service.pass(() => receiver.received.length === 1)
  clock.advance(-60 * MINUTE_MS)
  await service.delivery.idle()
  await until(t, async () => {
    const [delivery] = await service.deliveries(jobId)
    return delivery!.nextAt! <= clock.now() + 1000
  })
  clock.advance(1000)
  await until(t, () => receiver.received.length === 2)
})

test('with more due endpoints than a poll returns, it polls again after a turn', async (t) => {
  const { db } = await openTestStorage(t)
  const clock = new TestClock()
  let ready = Promise.withResolvers<void>()
  const poller = new DuePoller({ db, clock, onReady: () => ready.resolve() })
  t.after(() => poller.close())
  const nextAt = clock.now()
  await inTransaction(db, async (tx) => {
    for (let i = 0; i <= MAX_DUE_ENDPOINTS; i++) await addDue(tx, { endpoint: `ep_${i}`, nextAt })
  })
  const first = await poller.poll()
  assert.equal(first.length, MAX_DUE_ENDPOINTS)
  await db.sql
    .updateTable('deliveries')
    .set({ next_at: clock.now() + 10 * MINUTE_MS })
    .where('endpoint_id', '=', first[0]!.endpointId)
    .execute()
  poller.endpointServed()
  await ready.promise
  ready = Promise.withResolvers()
  const found = new Set((await poller.poll()).map(({ endpointId }) => endpointId))
  assert.equal(found.size, MAX_DUE_ENDPOINTS)
  assert.ok(!found.has(first[0]!.endpointId), 'what is due in ten minutes is left to a later look')
})

test('a clock turned back while no server runs delays no delivery', async (t) => {
  const service = await openDelivery(t)
  const { clock } = service
  await service.delivery.close()
  const receiver = await openTestReceiver(t)
  clock.advance(3 * 24 * 60 * MINUTE_MS)
  await queueMessages(service, receiver.url)
  clock.advance(-3 * 24 * 60 * MINUTE_MS)
  await service.reopen()
  await until(t, () => receiver.received.length === 1)
})
