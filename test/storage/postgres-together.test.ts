import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../../src/observability/log.ts'
import { type Db, inTransaction } from '../../src/storage/database/db.ts'
import { recordOutcome } from '../../src/storage/deliveries/deliveries.ts'
import { leaseDueDeliveries } from '../../src/storage/deliveries/delivery-leases.ts'
import { queueLiveCallbacks } from '../../src/storage/deliveries/queue-deliveries.ts'
import { finishJob } from '../../src/storage/jobs/finish-job.ts'
import { createJobWriter } from '../../src/storage/jobs/job-writer.ts'
import { insertTranscriptVersion } from '../../src/storage/jobs/transcript-edits.ts'
import { deleteUnusedRecordings } from '../../src/storage/recordings/recordings.ts'
import { findUnindexed, indexUtterances } from '../../src/storage/search/utterance-index.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { addFile, addJob, claim } from '../support/jobs/test-jobs.ts'
import { noPostgres, openTestPostgres } from '../support/storage/databases/test-postgres.ts'

/** Opens one database as two servers would. */
async function openTwo(t: TestContext): Promise<[Db, Db]> {
  // Its hooks come first: this storage is closed before the database is emptied.
  let close = async () => {}
  t.after(() => close())
  const first = await openTestPostgres(t)
  const { database, folder } = first
  const options = { folder, database, log: createLog('silent') }
  const second = await openStorage(options)
  close = () => second.close()
  return [first.db, second.db]
}

/** What several servers do at the same time, on a real database. */
describe('two servers on one database', { skip: noPostgres }, () => {
  test('claim each job once, within the limit of its account', async (t) => {
    const both = await openTwo(t)
    for (let i = 0; i < 12; i++) await addJob(both[0], { account: i % 2 ? 'acme' : 'other' })
    const claims = Array.from({ length: 12 }, (_, i) => {
      const db = both[i % 2]!
      return claim(db, { owner: db.nodeId, now: Date.now(), maxPerAccount: 4 })
    })
    const claimed = (await Promise.all(claims)).filter((job) => job !== undefined)
    assert.equal(new Set(claimed.map(({ id }) => id)).size, claimed.length)
    assert.equal(claimed.length, 8)
    assert.equal(claimed.filter(({ account }) => account === 'acme').length, 4)
  })

  test('create jobs up to the limit of an account with increasing times', async (t) => {
    const both = await openTwo(t)
    const writers = both.map(createJobWriter)
    const files = await Promise.all(
      Array.from({ length: 20 }, () => addFile(both[0], { account: 'acme' })),
    )
    const created = await Promise.all(
      files.map((fileId, i) => {
        const file = { id: fileId, filename: null, source: null }
        const moments = { createdAt: 5000, runAfter: 0 }
        const job = { id: randomUUID(), account: 'acme', params: {}, customMetadata: null, file }
        return writers[i % 2]!({ ...job, ...moments }, { maxQueued: 15 })
      }),
    )
    assert.equal(created.filter((one) => one === 'created').length, 15)
    const rows = await both[0].sql.selectFrom('jobs').select('created_at').execute()
    const moments = rows.map(({ created_at }) => created_at).sort((a, b) => a - b)
    assert.deepEqual(
      moments,
      Array.from({ length: 15 }, (_, i) => 5000 + i),
    )
  })

  test('never delete the recording of a job being created', async (t) => {
    const [db, other] = await openTwo(t)
    const write = createJobWriter(db)
    for (let i = 0; i < 20; i++) {
      const id = await addFile(db, { account: 'acme' })
      const file = { id, filename: null, source: null }
      const job = { id: randomUUID(), account: 'acme', params: {}, customMetadata: null, file }
      const creation = write({ ...job, createdAt: i, runAfter: 0 }, { maxQueued: 100 })
      const period = { from: 0, to: Number.MAX_SAFE_INTEGER }
      const [created] = await Promise.all([creation, deleteUnusedRecordings(other, period)])
      const query = db.sql.selectFrom('files').select('id').where('id', '=', id)
      const isThere = (await query.executeTakeFirst()) !== undefined
      assert.equal(isThere, created === 'created')
    }
  })

  test('take each delivery once, and keep one due per sequence', async (t) => {
    const [db, other] = await openTwo(t)
    const callback = { callback: true, callback_config: { url: 'http://a.example/' } }
    const request_params = JSON.stringify(callback)
    const jobs = Array.from({ length: 6 }, () => ({ id: randomUUID(), account: 'acme' }))
    const queueOne = (tx: Db, job: { id: string; account: string }, seq: number) => {
      const message = {
        seq,
        event: 'live.final',
        body: '{}',
        body_object: null,
        isDroppable: false,
      }
      return inTransaction(tx, (inner) => {
        const options = { at: 1, maxQueued: 100 }
        return queueLiveCallbacks(inner, { ...job, request_params }, [message], options)
      })
    }
    for (const job of jobs) await queueOne(db, job, 0)
    const { endpoint_id } = await db.sql
      .selectFrom('deliveries')
      .select('endpoint_id')
      .executeTakeFirstOrThrow()
    const sent: string[] = []
    for (let round = 0; round < 8; round++) {
      const wanted = { endpointId: endpoint_id, now: 2, limit: 10, leaseMs: 60_000 }
      const taken = await Promise.all([
        leaseDueDeliveries(db, { ...wanted, inFlight: [] }),
        leaseDueDeliveries(other, { ...wanted, inFlight: [] }),
      ])
      // While one server settles a delivery, the other one queues the next of its sequence.
      const settled = taken.flatMap((deliveries, i) =>
        deliveries.map((delivery) => {
          sent.push(delivery.id)
          const response = { requestHeaders: {}, responseHeaders: null, responseBody: null }
          const attempt = { at: 1, ms: 0, status: 200, error: null, ...response }
          return recordOutcome([db, other][i]!, { delivery, attempt, outcome: 'delivered' })
        }),
      )
      await Promise.all([...settled, ...jobs.map((job) => queueOne(other, job, round + 1))])
      const due = await db.sql
        .selectFrom('deliveries')
        .select('job_id')
        .where('state', '=', 'due')
        .execute()
      assert.equal(due.length, jobs.length, 'each sequence has one that is due')
    }
    assert.equal(new Set(sent).size, sent.length)
    assert.equal(sent.length, 8 * jobs.length)
  })

  test('index a correction that one stores while the other ends its indexing', async (t) => {
    const [db, other] = await openTwo(t)
    const id = (await addJob(db, { account: 'acme' }))!
    const { lease } = (await claim(db))!
    await finishJob(db, lease, { result: {}, at: 1 })
    const job = { jobId: id, account: 'acme' }
    const version = { version: 1, operations: 1, createdAt: 1, keyName: null, restored: null }
    let indexed: Promise<void> | undefined
    await inTransaction(db, async (tx) => {
      await insertTranscriptVersion(tx, job, { ...version, changes: '[]' })
      indexed = indexUtterances(other, { id, account: 'acme' }, [])
      await Promise.race([indexed, delay(300)])
    })
    await indexed
    assert.deepEqual(
      (await findUnindexed(db, { limit: 1 })).map((one) => one.id),
      [id],
    )
  })

  test('end a job only once, even if two servers hold it', async (t) => {
    const [db, other] = await openTwo(t)
    await addJob(db, { account: 'acme' })
    const { lease } = (await claim(db, { owner: db.nodeId, now: Date.now() }))!
    const ends = [db, other].map((one) => finishJob(one, lease, { result: {}, at: 1 }))
    assert.deepEqual((await Promise.all(ends)).sort(), [false, true])
  })
})
