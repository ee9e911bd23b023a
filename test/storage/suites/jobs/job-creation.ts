import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../../../src/storage/database/db.ts'
import {
  createJobWriter,
  deleteExpiredKeys,
  findByIdempotencyKey,
} from '../../../../src/storage/jobs/job-writer.ts'
import { addWebhook } from '../../../support/delivery/test-deliveries.ts'
import { createSuite } from '../suite.ts'

/** Jobs created with all that belongs to them, and once per idempotency key. */
export const jobCreationTests = createSuite()
const { test } = jobCreationTests

const account = 'acme'
const DAY_MS = 86_400_000
const key = (fingerprint: string, name = 'k1') => ({ account, key: name, fingerprint })

type Given = { idempotency?: ReturnType<typeof key>; createdAt?: number; maxQueued?: number }

async function create(db: Db, { idempotency, createdAt = 1000, maxQueued = 300 }: Given = {}) {
  const id = randomUUID()
  const file = { id: randomUUID(), filename: null, source: 'https://audio.example/a.mp3' }
  const job = { id, account, createdAt, runAfter: 0, params: {}, customMetadata: null, file }
  return { id, how: await createJobWriter(db)(job, { maxQueued, idempotency }) }
}

async function countJobs(db: Db): Promise<number> {
  return (await db.sql.selectFrom('jobs').select('id').execute()).length
}

test('a job is created with its metadata and messages to webhooks, or not at all', async ({
  db,
}) => {
  const write = createJobWriter(db)
  const createWith = (customMetadata: Record<string, unknown>) => {
    const file = { id: randomUUID(), filename: null, source: 'https://audio.example/a.mp3' }
    const job = { id: randomUUID(), account, createdAt: 1000, runAfter: 0, params: {}, file }
    return write({ ...job, customMetadata }, { maxQueued: 3 })
  }
  const all = [{ team: 'red', of: { city: 'Ulm' } }, { team: 'blue' }].map(createWith)
  assert.deepEqual(await Promise.all(all), ['created', 'created'])
  await addWebhook(db)
  assert.equal(await createWith({ team: 'green' }), 'created')
  assert.equal(await createWith({ team: 'gold' }), 'refused')

  const { rows } = await sql`
    select jobs.created_at, job_metadata.kind, count(*) as tokens
    from jobs join job_metadata using (id, created_at) where length(token) = 16
    group by jobs.created_at, job_metadata.kind order by jobs.created_at`.execute(db.sql)
  // The first one has an object, and a value in it.
  assert.deepEqual(rows, [
    { created_at: 1000, kind: 'pre-recorded', tokens: 3 },
    { created_at: 1001, kind: 'pre-recorded', tokens: 1 },
    { created_at: 1002, kind: 'pre-recorded', tokens: 1 },
  ])
  const messages = await sql`select event, jobs.created_at
    from deliveries join jobs on jobs.id = job_id`.execute(db.sql)
  assert.deepEqual(messages.rows, [{ event: 'transcription.created', created_at: 1002 }])
})

test('a repeated idempotency key creates no second job', async ({ db }) => {
  const first = await create(db, { idempotency: key('one') })
  assert.equal(first.how, 'created')
  const earlier = { jobId: first.id, fingerprint: 'one' }
  assert.deepEqual((await create(db, { idempotency: key('one') })).how, earlier)
  assert.deepEqual((await create(db, { idempotency: key('two') })).how, earlier)
  assert.equal(await countJobs(db), 1)
  const found = await findByIdempotencyKey(db, key('two'), { now: 1001 })
  assert.deepEqual(found, { jobId: first.id, fingerprint: 'one' })
})

test('of concurrent requests with one key one creates the job', async ({ db }) => {
  const both = await Promise.all([1, 2].map(() => create(db, { idempotency: key('one') })))
  const [first, second] = both.sort((a) => (a.how === 'created' ? -1 : 1))
  assert.equal(first?.how, 'created')
  assert.deepEqual(second?.how, { jobId: first.id, fingerprint: 'one' })
  assert.equal(await countJobs(db), 1)
})

test('an idempotency key is kept for a day per account', async ({ db }) => {
  await create(db, { idempotency: key('one') })
  const find = (now: number, of = account) =>
    findByIdempotencyKey(db, { ...key('one'), account: of }, { now })
  assert.ok(await find(999 + DAY_MS))
  assert.equal(await find(1000 + DAY_MS), undefined)
  assert.equal(await find(1001, 'other'), undefined)
  const later = { idempotency: key('two'), createdAt: 1000 + DAY_MS }
  assert.equal((await create(db, later)).how, 'created', 'a forgotten key is free')
})

test('expired idempotency keys are deleted, others are kept', async ({ db }) => {
  await create(db, { idempotency: key('one', 'old') })
  await create(db, { idempotency: key('two', 'new'), createdAt: 5000 })
  await deleteExpiredKeys(db, { now: 1000 + DAY_MS })
  const left = await db.sql.selectFrom('idempotency_keys').select('key').execute()
  assert.deepEqual(left, [{ key: 'new' }])
})

test('a job rejected by the queue uses no key', async ({ db }) => {
  await create(db)
  assert.equal((await create(db, { idempotency: key('one'), maxQueued: 1 })).how, 'refused')
  assert.equal(await findByIdempotencyKey(db, key('one'), { now: 1001 }), undefined)
})

test('concurrent requests share a transaction and get separate answers', async ({ db }) => {
  const createJob = createJobWriter(db)
  const file = { filename: null, source: 'https://audio.example/a.mp3' }
  const request = (name: string, fingerprint: string, maxQueued = 300) => {
    const id = randomUUID()
    const common = { account, createdAt: 1000, runAfter: 0, params: {}, customMetadata: { name } }
    const job = { ...common, id, file: { ...file, id: randomUUID() } }
    return createJob(job, { maxQueued, idempotency: key(fingerprint, name) }).then((how) => ({
      id,
      how,
    }))
  }
  const [first, second, same, other, late, later] = await Promise.all([
    request('a', 'x'),
    request('b', 'x'),
    request('a', 'x'),
    request('a', 'y'),
    request('c', 'x', 2),
    request('c', 'x', 2),
  ])
  assert.deepEqual([first.how, second.how], ['created', 'created'])
  assert.deepEqual([late.how, later.how], ['refused', 'refused'], 'not the job that was refused')
  assert.deepEqual([same.how, other.how], Array(2).fill({ jobId: first.id, fingerprint: 'x' }))
  assert.equal(await countJobs(db), 2)
  assert.equal(await findByIdempotencyKey(db, key('x', 'c'), { now: 1001 }), undefined)
})
