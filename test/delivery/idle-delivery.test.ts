import assert from 'node:assert/strict'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createMetrics } from '../../src/observability/metrics.ts'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
  TestClock,
  until,
} from '../support/delivery/test-delivery-service.ts'
import { openTestStorage } from '../support/storage/test-storage.ts'

/** Opens a storage whose queries wait behind others for as long as the test says. */
async function openBusyStorage(t: TestContext) {
  const storage = await openTestStorage(t)
  const executor = storage.db.reader.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  let free = Promise.resolve()
  t.mock.method(executor, 'executeQuery', async (...query: Parameters<typeof execute>) => {
    await free
    return execute(...query)
  })
  return {
    storage,
    hold(): () => void {
      const held = Promise.withResolvers<void>()
      free = held.promise
      return held.resolve
    },
  }
}

/** Creates a clock that moves without waking its sleepers. */
function createSilentClock(): TestClock {
  const clock = new TestClock()
  clock.sleep = async (_ms, signal) => {
    if (!signal.aborted) await once(signal, 'abort')
  }
  return clock
}

test('the service is not idle if a delivery becomes due during its query', async (t) => {
  const { storage, hold } = await openBusyStorage(t)
  const clock = createSilentClock()
  const metrics = createMetrics()
  const { delivery } = await openDelivery(t, { storage, clock, metrics })
  let statuses = [500]
  const receiver = await openTestReceiver(t, () => {
    // An attempt that takes some milliseconds: what follows it is due that much later.
    for (const begun = performance.now(); performance.now() < begun + 2; );
    return statuses.pop()
  })
  await queueMessages({ storage, clock }, receiver.url, { count: 2 })
  await delivery.idle()
  statuses = [200, 200]

  const release = hold()
  const idle = delivery.idle()
  clock.advance(1000)
  delivery.wake()
  await until(t, async () => {
    const { values } = await metrics.deliveriesEnded.get()
    return values.some(({ labels, value }) => labels.outcome === 'delivered' && value === 1)
  })
  await turn()
  assert.equal(receiver.received.length, 2, 'the second message waits for its moment')
  clock.advance(1000)
  release()
  await idle
  assert.equal(receiver.received.length, 3)
})
