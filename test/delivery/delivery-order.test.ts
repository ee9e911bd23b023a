import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
} from '../support/delivery/test-delivery-service.ts'
import { rounds } from '../support/random/rounds.ts'
import { openTestStorage } from '../support/storage/test-storage.ts'

type Received = { sequence: string; seq: number; status: number }

/** The last attempt of each message counts: these must be in the order of their numbers. */
function checkSequence(received: readonly Received[], count: number): void {
  const seqs = received.map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
  assert.deepEqual(
    [...new Set(seqs)],
    Array.from({ length: count }, (_, i) => i),
  )
  for (let seq = 0; seq < count; seq++) {
    const statuses = received.filter((one) => one.seq === seq).map(({ status }) => status)
    const failures = statuses.slice(0, -1)
    assert.ok(!failures.includes(200), 'nothing is sent again that was taken')
    assert.ok(statuses.at(-1) === 200 || statuses.length === 6, 'nothing is given up early')
  }
}

test("despite failures and restarts each job's events arrive one by one in order", async (t) => {
  const storage = await openTestStorage(t)
  let statuses: number[] = []
  let received: Received[] = []
  const open = new Map<string, number>()
  const receiver = await openTestReceiver(t, ({ path, body }, response) => {
    const { payload } = JSON.parse(body) as { payload: { seq: number } }
    const status = statuses.shift() ?? 200
    received.push({ sequence: path, seq: payload.seq, status })
    open.set(path, (open.get(path) ?? 0) + 1)
    assert.equal(open.get(path), 1, 'one request of a job at a time')
    response.on('close', () => open.set(path, open.get(path)! - 1))
    return status
  })
  const service = await openDelivery(t, {
    storage,
    env: { STENO_WEBHOOK_DISABLE_AFTER_DAYS: '365' },
  })
  const sequences = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 })
  const responses = fc.array(fc.constantFrom(200, 200, 500, 302, 429), { maxLength: 40 })
  const scenario = fc.asyncProperty(
    sequences,
    responses,
    fc.boolean(),
    async (counts, given, isCut) => {
      statuses = [...given]
      received = []
      const paths = counts.map(() => `/${randomUUID()}`)
      for (const [i, count] of counts.entries()) {
        await queueMessages(service, receiver.url + paths[i], { count })
      }
      if (isCut) {
        await service.pass(() => received.length > 2)
        await service.delivery.close()
        await service.reopen()
      }
      await service.pass()
      for (const [i, count] of counts.entries()) {
        checkSequence(
          received.filter(({ sequence }) => sequence === paths[i]),
          count,
        )
      }
    },
  )
  await fc.assert(scenario, { numRuns: rounds(8) })
})
