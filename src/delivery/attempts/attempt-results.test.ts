import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  until,
} from '../../../test/support/delivery/test-delivery-service.ts'

/** Makes the database refuse every recorded attempt, as a full disk would. */
const refuse = sql`create trigger refuse before insert on delivery_attempts
  begin select raise(abort, 'refused'); end`

test('results that the database refuses are written later, without another request', async (t) => {
  const service = await openDelivery(t)
  const { sql: db } = service.storage.db
  const receiver = await openTestReceiver(t)
  await refuse.execute(db)
  const jobId = await queueMessages(service, receiver.url, { count: 2 })
  service.delivery.wake()
  await until(t, () => receiver.received.length === 1)
  // Refused several times: it stays in flight.
  for (let i = 0; i < 3; i++) service.clock.advance(1000)
  assert.equal((await service.deliveries(jobId))[0]!.state, 'due')
  await sql`drop trigger refuse`.execute(db)
  await until(t, () => {
    service.clock.advance(1000)
    return receiver.received.length === 2
  })
  await service.pass()
  const states = (await service.deliveries(jobId)).map(({ state, attempts }) => [state, attempts])
  assert.deepEqual(states, [
    ['delivered', 1],
    ['delivered', 1],
  ])
})

test('a result that cannot be written does not block other deliveries', async (t) => {
  const service = await openDelivery(t)
  const { sql: db } = service.storage.db
  const receiver = await openTestReceiver(t)
  await sql`create trigger refuse before insert on delivery_attempts
    when new.delivery_id in (select id from deliveries where url like '%/bad')
    begin select raise(abort, 'refused'); end`.execute(db)
  const bad = await queueMessages(service, `${receiver.url}/bad`)
  for (let i = 0; i < 5; i++) await queueMessages(service, `${receiver.url}/good`, { count: 3 })
  service.delivery.wake()
  await until(t, () => {
    service.clock.advance(1)
    return receiver.at('/good').length === 15
  })
  assert.equal((await service.deliveries(bad))[0]!.state, 'due')
})

test('closing does not wait for a database that refuses writes', async (t) => {
  const service = await openDelivery(t)
  const receiver = await openTestReceiver(t)
  await refuse.execute(service.storage.db.sql)
  const jobId = await queueMessages(service, receiver.url)
  service.delivery.wake()
  await until(t, () => receiver.received.length === 1)
  await service.delivery.close()
  assert.equal((await service.deliveries(jobId))[0]!.state, 'due')
})
