import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { CompiledQuery } from 'kysely'
import {
  addWebhook,
  callbackTo,
  endNewJob,
  failAll,
  takeAll,
} from '../../../test/support/delivery/test-deliveries.ts'
import { addJob } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import type { Db } from '../database/db.ts'
import { type DeliveryFilter, findDelivery, listDeliveries } from './delivery-log.ts'

const params = callbackTo('https://app.example/hook')

async function listed(db: Db, filter: Partial<DeliveryFilter> = {}, offset = 0, limit = 10) {
  const page = await listDeliveries(db, { account: 'acme', ...filter }, { offset, limit })
  return { ...page, events: page.deliveries.map(({ event, state }) => `${event} ${state}`) }
}

test('deliveries are listed newest first, in pages', async (t) => {
  const { db } = await openTestStorage(t)
  await addWebhook(db)
  await addWebhook(db, { account: 'other' })
  await addJob(db, { account: 'other' })
  for (const createdAt of [1000, 2000, 3000]) await addJob(db, { createdAt })
  const { deliveries, more } = await listed(db, {}, 0, 2)
  assert.deepEqual([deliveries.map(({ createdAt }) => createdAt), more], [[3000, 2000], true])
  const rest = await listed(db, {}, 2, 2)
  assert.deepEqual([rest.deliveries.map(({ createdAt }) => createdAt), rest.more], [[1000], false])
})

test('a list can be filtered by job, endpoint, state, event and time', async (t) => {
  const { db } = await openTestStorage(t)
  const webhook = await addWebhook(db)
  const jobId = await endNewJob(db, { params, result: {}, createdAt: 1000, at: 9000 })
  const created = 'transcription.created'
  const all = ['transcription.success due', 'transcription.success waiting', `${created} due`]
  assert.deepEqual((await listed(db)).events.sort(), all.sort())
  assert.equal((await listed(db, { jobId })).events.length, 3)
  assert.deepEqual((await listed(db, { jobId: randomUUID() })).events, [])
  assert.deepEqual((await listed(db, { jobId, account: 'other' })).events, [])
  const narrow = await listed(db, { endpointId: webhook })
  assert.deepEqual(narrow.events, ['transcription.success waiting', `${created} due`])
  assert.deepEqual((await listed(db, { events: [created] })).events, [`${created} due`])
  assert.deepEqual((await listed(db, { before: 9000 })).events, [`${created} due`])
  assert.equal((await listed(db, { from: 9000 })).events.length, 2)
  assert.equal((await listed(db, { statuses: ['pending'] })).events.length, 3)
  await failAll(db, await takeAll(db))
  assert.equal((await listed(db, { statuses: ['failed'] })).events.length, 2)
  assert.equal(
    (await listed(db, { statuses: ['failed', 'delivered', 'pending'] })).events.length,
    3,
  )
  assert.deepEqual((await listed(db, { statuses: ['delivered'] })).events, [])
})

/** Returns SQLite's query plan for a list. */
async function planOf(db: Db, filter: Partial<DeliveryFilter>): Promise<string> {
  const plans: Promise<string>[] = []
  const reader = db.reader.withPlugin({
    transformQuery({ node, queryId }) {
      const { sql, parameters } = db.reader.getExecutor().compileQuery(node, queryId)
      const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
      plans.push(
        db.reader.executeQuery<{ detail: string }>(explained).then(({ rows }) => {
          return rows.map(({ detail }) => detail).join()
        }),
      )
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await listed({ ...db, reader }, filter)
  return (await Promise.all(plans)).join()
}

test('each filter uses the most selective index', async (t) => {
  const { db } = await openTestStorage(t)
  assert.match(await planOf(db, { jobId: 'a' }), /USING INDEX deliveries_by_job \(job_id=\?\)/)
  assert.match(
    await planOf(db, { endpointId: 'a' }),
    /^SEARCH \w+ USING INDEX deliveries_by_endpoint \(\S+\)$/,
  )
  for (const filter of [{}, { statuses: ['failed'] as const }, { events: ['a'] }]) {
    assert.match(
      await planOf(db, filter),
      /^SEARCH \w+ USING INDEX deliveries_by_time \(account=\?\)$/,
    )
  }
})

test('a delivery is found only by its account', async (t) => {
  const { db } = await openTestStorage(t)
  await endNewJob(db, { params, result: {} })
  const [{ id } = { id: '' }] = await takeAll(db)
  assert.equal((await findDelivery(db, { id, account: 'acme' }))?.id, id)
  assert.equal(await findDelivery(db, { id, account: 'other' }), undefined)
})
