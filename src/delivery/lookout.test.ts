import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../test/test-storage.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  TestClock,
  until,
} from './delivery.fixture.ts'
import { Lookout } from './lookout.ts'

const MINUTE_MS = 60_000

test('what is queued beside the server goes out within a minute, without a wake', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t)
  await service.delivery.idle()
  await queueMessages(service, receiver.url)
  await until(t, () => {
    service.clock.advance(MINUTE_MS)
    return receiver.received.length === 1
  })
})

test('it is looked when asked, once a minute, and not in between', async (t) => {
  const { db } = await openTestStorage(t)
  const clock = new TestClock()
  let rested = Promise.withResolvers<void>()
  const lookout = new Lookout({ db, clock, onRested: () => rested.resolve() })
  t.after(() => lookout.close())
  await queueMessages({ storage: { db } as never, clock }, 'http://a.example/')

  const first = lookout.look()
  lookout.want()
  assert.equal((await lookout.look()).length, 0, 'it is being looked')
  assert.equal((await first).length, 1)
  await rested.promise
  rested = Promise.withResolvers()
  assert.equal((await lookout.look()).length, 1, 'what was queued meanwhile is not missed')
  assert.equal((await lookout.look()).length, 0, 'nobody asked')
  lookout.want()
  assert.equal((await lookout.look()).length, 0, 'it was looked a moment ago')
  await rested.promise
  assert.equal((await lookout.look()).length, 1)
  rested = Promise.withResolvers()
  clock.advance(MINUTE_MS)
  lookout.want()
  await rested.promise
  assert.equal((await lookout.look()).length, 1)
})

test('a clock that was turned back leaves nothing waiting for days', async (t) => {
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

test('neither does one that was turned back while no server ran', async (t) => {
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
