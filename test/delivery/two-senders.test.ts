import assert from 'node:assert/strict'
import test from 'node:test'
import { renewNode } from '../../src/storage/database/nodes/register-node.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  until,
} from '../support/delivery/test-delivery-service.ts'
import { openTestStorage } from '../support/storage/test-storage.ts'

const JOBS = 12

test('two senders over one database never send the same attempt', async (t) => {
  const storage = await openTestStorage(t)
  const other = { ...storage, db: { ...storage.db, nodeId: 'other' } }
  await renewNode(other.db, storage.node)
  const gate = Promise.withResolvers<void>()
  const receiver = await openTestReceiver(t, (_received, response) => {
    void gate.promise.then(() => response.writeHead(200).end())
    return undefined
  })
  const first = await openDelivery(t, { storage })
  const second = await openDelivery(t, { storage: other })
  for (let n = 0; n < JOBS; n++) await queueMessages(first, receiver.url, { count: 2 })
  first.delivery.wake()
  second.delivery.wake()
  // As many as one endpoint gets that has accepted nothing yet, from each of them.
  await until(t, () => receiver.received.length >= 8)
  gate.resolve()
  await until(t, async () => {
    for (const { delivery, clock } of [first, second]) {
      clock.advance(10)
      delivery.wake()
    }
    return (await first.deliveries()).every(({ state }) => state === 'delivered')
  })
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.deepEqual([ids.length, new Set(ids).size], [2 * JOBS, 2 * JOBS])
  const deliveries = await first.deliveries()
  assert.ok(deliveries.every(({ attempts }) => attempts === 1))
})

test('deliveries of a dead sender are sent by another, and its results dropped', async (t) => {
  const storage = await openTestStorage(t)
  const dead = { ...storage, db: { ...storage.db, nodeId: 'dead' } }
  await renewNode(dead.db, storage.node)
  const gate = Promise.withResolvers<void>()
  let requests = 0
  const receiver = await openTestReceiver(t, (_received, response) => {
    requests++
    if (requests > 1) return 200
    void gate.promise.then(() => response.writeHead(200).end())
    return undefined
  })
  const first = await openDelivery(t, { storage: dead, timeout: 60 })
  await queueMessages(first, receiver.url)
  first.delivery.wake()
  await until(t, () => requests === 1)
  const second = await openDelivery(t, { storage })
  second.delivery.wake()
  await storage.db.sql.deleteFrom('owners').where('id', '=', 'dead').execute()
  await until(t, async () => {
    second.delivery.wake()
    return (await second.deliveries())[0]!.state === 'delivered'
  })
  gate.resolve()
  await first.delivery.close()
  const [delivery] = await second.deliveries()
  assert.deepEqual([requests, delivery?.attempts], [2, 1])
})
