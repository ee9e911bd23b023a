import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../../src/storage/jobs/deletion/delete-job.ts'
import { findJob, type JobKind, type JobStatus } from '../../../../src/storage/jobs/jobs.ts'
import {
  type JobFilter,
  type ListCursor,
  listJobs,
  type PageRequest,
} from '../../../../src/storage/jobs/lists/job-lists.ts'
import { addJob } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Pages of jobs, by time, status and metadata. */
export const jobListTests = createSuite()
const { test } = jobListTests

const account = 'acme'

type Filter = Omit<JobFilter, 'account'>
type Metadata = Record<string, unknown>

async function list(
  db: Db,
  filter: Filter = {},
  part: Partial<PageRequest> = {},
): Promise<string[]> {
  const page = await listJobs(db, { account, ...filter }, { offset: 0, limit: 100, ...part })
  return page.rows.map(({ id }) => id)
}

async function addMany(db: Db, metadata: Metadata[]): Promise<string[]> {
  const ids = []
  for (const one of metadata) ids.push((await addJob(db, { metadata: one }))!)
  return ids
}

test('pages are consecutive, newest first, and the last one says so', async ({ db }) => {
  const ids = []
  for (let i = 0; i < 5; i++) ids.unshift(await addJob(db))
  await addJob(db, { account: 'other' })
  const pages = []
  for (const offset of [0, 2, 4, 9])
    pages.push(await listJobs(db, { account }, { offset, limit: 2 }))
  assert.deepEqual(
    pages.map(({ rows: places }) => places.map(({ id }) => id)),
    [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), []],
  )
  assert.deepEqual(
    pages.map(({ more }) => more),
    [true, true, false, false],
  )
})

test('a page after a cursor is not shifted by new jobs', async ({ db }) => {
  const ids = []
  for (let i = 0; i < 4; i++) ids.unshift(await addJob(db))
  const { rows: places } = await listJobs(db, { account }, { offset: 0, limit: 2 })
  await addJob(db)
  assert.deepEqual(await list(db, {}, { offset: 2, after: places[1] }), ids.slice(2))
})

test('metadata is compared as text at any depth, lists as a whole', async ({ db }) => {
  const metadata = {
    team: 'red',
    n: 42,
    on: true,
    no: null,
    tags: ['a', 1],
    deep: { x: { y: '7' }, z: 1 },
  }
  await addMany(db, [metadata, { team: 'blue' }])
  const matches = async (filter: Metadata) => (await list(db, { metadata: filter })).length
  for (const filter of [
    { team: 'red' },
    { n: '42' },
    { n: 42, on: 'true', no: 'null' },
    { tags: ['a', '1'] },
    { deep: { x: { y: 7 } } },
    { deep: {} },
    metadata,
  ]) {
    assert.equal(await matches(filter), 1, JSON.stringify(filter))
  }
  for (const filter of [
    { team: 'r' },
    { n: '042' },
    { tags: ['a'] },
    { tags: [1, 'a'] },
    { tags: 'a' },
    { deep: { y: '7' } },
    { deep: 'x' },
    { team: {} },
    { team: 'red', n: 41 },
    { 'deep.z': 1 },
    { deep: { x: { y: 7, q: 1 } } },
  ]) {
    assert.equal(await matches(filter), 0, JSON.stringify(filter))
  }
  assert.equal(await matches({}), 2)
})

test('jobs of another account with the same metadata are not listed', async ({ db }) => {
  await addJob(db, { account: 'other', metadata: { team: 'red' } })
  assert.deepEqual(await list(db, { metadata: { team: 'red' } }), [])
})

test('deleting a job removes its metadata index', async ({ db }) => {
  const [id] = await addMany(db, [{ team: 'red', deep: { x: 1 } }])
  await db.sql.updateTable('jobs').set({ status: 'done' }).execute()
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id: id!, account }))
  const { rows } = await sql`select * from job_metadata`.execute(db.sql)
  assert.deepEqual(rows, [])
})

const kinds: JobKind[] = ['pre-recorded', 'live']
const statuses: JobStatus[] = ['queued', 'processing', 'done', 'error']
const arbitraryMetadata = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(
    fc.constantFrom(1, '1', true, 'x', null),
    fc.array(fc.constantFrom(1, '1', 'x'), { maxLength: 2 }),
  ),
  { maxKeys: 3 },
)
const arbitraryFilter = fc.record(
  {
    kinds: fc.subarray(kinds),
    statuses: fc.subarray(statuses),
    from: fc.integer({ min: 0, max: 40 }),
    before: fc.integer({ min: 0, max: 40 }),
    metadata: arbitraryMetadata,
  },
  { requiredKeys: [] },
)

type Row = ListCursor & { kind: JobKind; status: JobStatus; metadata: Metadata }

/** The reference result of a list, computed without an index. */
function expected(rows: readonly Row[], filter: Filter): string[] {
  const text = (value: unknown): string =>
    Array.isArray(value) ? `[${value.map(text)}]` : String(value)
  return rows
    .filter(({ kind, status, createdAt, metadata }) => {
      const { from = 0, before = Number.POSITIVE_INFINITY } = filter
      return (
        (!filter.kinds?.length || filter.kinds.includes(kind)) &&
        (!filter.statuses?.length || filter.statuses.includes(status)) &&
        createdAt >= from &&
        createdAt < before &&
        Object.entries(filter.metadata ?? {}).every(([key, value]) => {
          const stored = metadata[key]
          return (
            key in metadata &&
            Array.isArray(stored) === Array.isArray(value) &&
            text(stored) === text(value)
          )
        })
      )
    })
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

test('for any filters pages contain exactly the matching jobs in order', async ({ db }) => {
  const rows: Row[] = []
  const sample = fc.sample(
    fc.record({
      metadata: arbitraryMetadata,
      kind: fc.constantFrom(...kinds),
      status: fc.constantFrom(...statuses),
    }),
    { numRuns: 40, seed: 7 },
  )
  for (const { metadata, kind, status } of sample) {
    const id = (await addJob(db, { createdAt: 1 + rows.length, metadata }))!
    await db.sql.updateTable('jobs').set({ kind, status }).where('id', '=', id).execute()
    await sql`update job_metadata set kind = ${kind} where id = ${id}`.execute(db.sql)
    rows.push({ id, createdAt: 1 + rows.length, kind, status, metadata })
  }
  const limits = fc.integer({ min: 1, max: 7 })
  const check = fc.asyncProperty(
    arbitraryFilter,
    limits,
    fc.boolean(),
    async (filter, limit, byPlace) => {
      const found: string[] = []
      let after: ListCursor | undefined
      for (let more = true; more; ) {
        const page = await listJobs(
          db,
          { account, ...filter },
          { offset: found.length, limit, after },
        )
        found.push(...page.rows.map(({ id }) => id))
        more = page.more
        if (byPlace) after = page.rows.at(-1)
      }
      assert.deepEqual(found, expected(rows, filter))
    },
  )
  await fc.assert(check, { numRuns: 300 })
})

test('short jobs are read with the page, long ones are not', async ({ db }) => {
  const short = (await addJob(db, { metadata: { note: 'x' } }))!
  const long = (await addJob(db, { metadata: { note: 'x'.repeat(5000) } }))!
  const page = { offset: 0, limit: 5 }
  for (const filter of [{}, { from: 1 }, { metadata: { note: 'x' } }]) {
    const { rows: places } = await listJobs(db, { account, ...filter }, { ...page, withJobs: true })
    const place = places.find(({ id }) => id === short)!
    assert.deepEqual(place.job, await findJob(db, { id: short, account }))
    assert.ok(place.bytes < 1000)
    const other = places.find(({ id }) => id === long)
    assert.equal(other?.job, undefined)
    assert.ok(!other || other.bytes > 5000)
  }
  const { rows: places } = await listJobs(db, { account }, page)
  assert.deepEqual(
    places.map(({ id, job }) => [id, job]),
    [
      [long, undefined],
      [short, undefined],
    ],
  )
})

test('a list of jobs that do not exist is empty', async ({ db }) => {
  assert.deepEqual(await list(db, {}, { after: { createdAt: 5, id: randomUUID() } }), [])
})

test('a far page over several statuses has the same order', async ({ db }) => {
  await sql`insert into jobs (id, account, kind, status, created_at, run_after)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 30010)
    select cast(100000 + i as text), ${account}, case i % 2 when 0 then 'live' else 'pre-recorded' end,
      case i % 3 when 0 then 'queued' when 1 then 'done' else 'error' end, i, 0 from n`.execute(
    db.sql,
  )
  const wanted = { statuses: ['done', 'error'], from: 5 } as const
  const all = Array.from({ length: 30_010 }, (_, i) => i + 1)
    .filter((i) => i % 3 !== 0 && i >= 5)
    .map((i) => String(100_000 + i))
    .reverse()
  const offset = 20_001
  assert.deepEqual(await list(db, wanted, { offset, limit: 5 }), all.slice(offset, offset + 5))
  const live = all.filter((id) => Number(id) % 2 === 0)
  assert.deepEqual(await list(db, { ...wanted, kinds: ['live'] }, { offset: 20_001 }), [])
  const few = { statuses: ['done', 'queued', 'error'], kinds: ['live'] } as const
  assert.equal((await list(db, few, { offset: 20_001 })).length, 0)
  assert.equal(live.length < offset, true)
})
