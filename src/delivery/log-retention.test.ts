import assert from 'node:assert/strict'
import test from 'node:test'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  until,
} from '../../test/support/delivery/test-delivery-service.ts'

const HOUR_MS = 3_600_000

test('deliveries past their retention are deleted with their attempts', async (t) => {
  const service = await openDelivery(t, { env: { STENO_DELIVERY_LOG_DAYS: '2' } })
  const { sql } = service.storage.db
  const receiver = await openTestReceiver(t)
  const count = async (table: 'deliveries' | 'delivery_attempts') =>
    (await sql.selectFrom(table).selectAll().execute()).length
  await queueMessages(service, receiver.url)
  await service.pass()
  service.clock.advance(47 * HOUR_MS)
  await queueMessages(service, receiver.url)
  await service.pass()
  assert.equal(await count('deliveries'), 2)
  await until(t, async () => {
    service.clock.advance(HOUR_MS / 4)
    return (await count('deliveries')) === 1
  })
  assert.equal(await count('delivery_attempts'), 1)
})

test('without a retention limit deliveries are kept as long as their jobs', async (t) => {
  const service = await openDelivery(t, { env: { STENO_DELIVERY_LOG_DAYS: '0' } })
  const receiver = await openTestReceiver(t)
  await queueMessages(service, receiver.url)
  await service.pass()
  service.clock.advance(10_000 * HOUR_MS)
  await service.delivery.idle()
  assert.equal((await service.deliveries()).length, 1)
})

test('callback receivers are deleted with their last delivery', async (t) => {
  const service = await openDelivery(t, { env: { STENO_DELIVERY_LOG_DAYS: '0' } })
  const { sql } = service.storage.db
  const receiver = await openTestReceiver(t)
  await queueMessages(service, receiver.url)
  await service.pass()
  const count = async () => (await sql.selectFrom('endpoints').select('id').execute()).length
  assert.equal(await count(), 1)
  await sql.deleteFrom('deliveries').execute()
  await until(t, async () => {
    service.clock.advance(HOUR_MS)
    return (await count()) === 0
  })
})
