// What pg-boss 12 does where the queue of jobs makes a promise, beside that queue: decision 0085
// rests on it.
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { CompiledQuery, sql } from 'kysely'
import { Client } from 'pg'
import { type FetchOptions, PgBoss } from 'pg-boss'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../../../scripts/tests/test-tools/test-postgres.ts'
import { createLog } from '../../../../src/observability/log.ts'
import { inTransaction } from '../../../../src/storage/database/db.ts'
import { finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import { type Lease, renewLease } from '../../../../src/storage/jobs/queue/lease.ts'
import type { JobResult } from '../../../../src/storage/jobs/results.ts'
import { openStorage } from '../../../../src/storage/storage.ts'
import { addJob, claim } from '../../../support/jobs/test-jobs.ts'
import {
  createDatabase,
  noPostgres,
  openTestPostgres,
  testSettings,
} from '../../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'

const QUEUE = 'jobs'

/** Starts pg-boss on an empty database. */
async function startBoss(t: TestContext, { isSupervised = false } = {}) {
  const { url: connectionString } = await createDatabase()
  const seconds = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 }
  const boss = new PgBoss({
    connectionString,
    schedule: false,
    supervise: isSupervised,
    ...seconds,
  })
  boss.on('error', () => {})
  await boss.start()
  t.after(() => boss.stop({ graceful: false }))
  return { boss, url: connectionString }
}

/** How pg-boss runs statements in the transaction of its caller. */
function within(client: Client) {
  return { executeSql: (text: string, values?: unknown[]) => client.query(text, values) }
}

async function connect(t: TestContext, connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  await client.connect()
  t.after(() => client.end())
  return client
}

async function begin(t: TestContext, url: string): Promise<Client> {
  const client = await connect(t, url)
  await client.query('begin')
  return client
}

async function sendTo(boss: PgBoss, account: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await boss.send(QUEUE, { account }, { group: { id: account } })
}

async function fetchAccounts(boss: PgBoss, options: FetchOptions): Promise<string[]> {
  const jobs = await boss.fetch<{ account: string }>(QUEUE, options)
  return jobs.map(({ data }) => data.account)
}

test("pg-boss adds a job within the caller's transaction", { skip: noPostgres }, async (t) => {
  const { boss, url } = await startBoss(t)
  await boss.createQueue(QUEUE)
  const client = await begin(t, url)
  await boss.send(QUEUE, {}, { db: within(client) })
  await client.query('rollback')
  assert.deepEqual(await boss.fetch(QUEUE), [])
  await client.query('begin')
  await boss.send(QUEUE, {}, { db: within(client) })
  await client.query('commit')
  assert.equal((await boss.fetch(QUEUE)).length, 1)
})

test('concurrent pg-boss fetches exceed the limit of a group', {
  skip: noPostgres,
}, async (t) => {
  const { boss, url } = await startBoss(t)
  await boss.createQueue(QUEUE)
  await sendTo(boss, 'acme', 2)
  const [first, second] = [await begin(t, url), await begin(t, url)]
  const fetchIn = (client: Client) => {
    return boss.fetch(QUEUE, { groupConcurrency: 1, db: within(client) })
  }
  // Neither sees what the other has not committed yet.
  const taken = [...(await fetchIn(first)), ...(await fetchIn(second))]
  await first.query('commit')
  await second.query('commit')
  assert.equal(taken.length, 2, 'one account runs two jobs, and may run one')
})

test('concurrent claims respect the limit of an account', {
  skip: noPostgres,
}, async (t) => {
  const { db } = await openTestPostgres(t)
  for (let i = 0; i < 8; i++) await addJob(db)
  const claims = Array.from({ length: 8 }, () => claim(db, { maxPerAccount: 1 }))
  const jobs = (await Promise.all(claims)).filter((job) => job !== undefined)
  assert.equal(jobs.length, 1)
})

test('pg-boss fetches outside a transaction exceed the limit too', {
  skip: noPostgres,
}, async (t) => {
  const { boss } = await startBoss(t)
  await boss.createQueue(QUEUE)
  let most = 0
  // By chance: most rounds do.
  for (let round = 0; round < 50 && most < 2; round++) {
    await sendTo(boss, `account-${round}`, 8)
    const fetches = Array.from({ length: 8 }, () => fetchAccounts(boss, { groupConcurrency: 1 }))
    const accounts = (await Promise.all(fetches)).flat()
    most = Math.max(most, accounts.filter((one) => one === `account-${round}`).length)
  }
  t.diagnostic(`${most} jobs of a group that may run 1`)
  assert.ok(most > 1)
})

test('pg-boss takes the oldest jobs, and the queue takes turns by account', {
  skip: noPostgres,
}, async (t) => {
  const { boss } = await startBoss(t)
  await boss.createQueue(QUEUE)
  await sendTo(boss, 'first', 4)
  await sendTo(boss, 'second', 1)
  const taken: string[] = []
  for (let i = 0; i < 4; i++) taken.push(...(await fetchAccounts(boss, { groupConcurrency: 3 })))
  assert.deepEqual(taken, ['first', 'first', 'first', 'second'])

  const { db } = await openTestPostgres(t)
  for (let i = 0; i < 4; i++) await addJob(db, { account: 'first', createdAt: 1000 + i })
  await addJob(db, { account: 'second', createdAt: 2000 })
  const claimed: string[] = []
  for (let i = 0; i < 4; i++) claimed.push((await claim(db, { maxPerAccount: 3 }))!.account)
  assert.deepEqual(claimed, ['first', 'second', 'first', 'first'])
})

test('pg-boss heartbeats are at least ten seconds', { skip: noPostgres }, async (t) => {
  const { boss } = await startBoss(t)
  await assert.rejects(boss.createQueue(QUEUE, { heartbeatSeconds: 9 }), /integer >= 10/)
  await boss.createQueue(QUEUE, { heartbeatSeconds: 10 })
})

test('the pg-boss monitor finds a dead worker and counts its attempt', {
  skip: noPostgres,
}, async (t) => {
  const { boss, url } = await startBoss(t, { isSupervised: true })
  const client = await connect(t, url)
  await boss.createQueue(QUEUE, { heartbeatSeconds: 10, retryLimit: 1 })
  const id = (await boss.send(QUEUE, {}))!
  const stateOf = async () => {
    const { rows } = await client.query('select state, retry_count from pgboss.job where id = $1', [
      id,
    ])
    return rows[0] as { state: string; retry_count: number }
  }
  const lose = async () => {
    await client.query(`update pgboss.job set heartbeat_on = now() - interval '11 seconds'`)
    while ((await stateOf()).state === 'active') await delay(50)
  }
  assert.equal((await boss.fetch(QUEUE)).length, 1)
  await lose()
  assert.equal((await stateOf()).state, 'retry')
  assert.equal((await boss.fetch(QUEUE)).length, 1)
  assert.equal((await stateOf()).retry_count, 1)
  await lose()
  // The queue of jobs does not count the attempt of a server that was lost (decision 0014).
  assert.equal((await stateOf()).state, 'failed')
})

/** Milliseconds and statements per job of each step. */
type Costs = Record<string, { statements: number; ms: number }>

const MEASURED = 50

test('a job costs more statements with pg-boss and the queue than with the queue', {
  skip: noPostgres,
}, async (t) => {
  // What was started last ends first.
  await using stack = new AsyncDisposableStack()
  const folder = makePostgresFolder()
  stack.defer(() => removePostgres(folder))
  await startPostgres(folder, { settings: ['shared_preload_libraries=pg_stat_statements'] })
  const database = { ...testSettings, url: postgresUrl(folder, 'postgres') }
  // No heartbeat comes in between.
  const options = { folder: await makeFolder(t), log: createLog('silent'), heartbeatMs: 3_600_000 }
  const storage = await openStorage({ ...options, database })
  stack.defer(() => storage.close())
  const { db } = storage
  await sql`create extension pg_stat_statements`.execute(db.sql)
  const boss = new PgBoss({ connectionString: database.url, schedule: false, supervise: false })
  await boss.start()
  stack.defer(() => boss.stop({ graceful: false }))
  await boss.createQueue(QUEUE, { heartbeatSeconds: 30 })

  async function count(): Promise<number> {
    const { rows } = await sql<{ calls: number }>`select coalesce(sum(calls), 0)::float as calls
      from pg_stat_statements where query not like '%pg_stat_statements%'`.execute(db.sql)
    await sql`select pg_stat_statements_reset()`.execute(db.sql)
    return rows[0]!.calls
  }
  async function measure(steps: Record<string, (i: number) => Promise<unknown>>): Promise<Costs> {
    const costs: Costs = {}
    for (const [name, step] of Object.entries(steps)) {
      await count()
      const began = performance.now()
      for (let i = 0; i < MEASURED; i++) await step(i)
      const ms = (performance.now() - began) / MEASURED
      const statements = Math.round(((await count()) / MEASURED) * 10) / 10
      costs[name] = { statements, ms: Math.round(ms * 10) / 10 }
    }
    return costs
  }

  const group = { group: { id: 'acme' } }
  const fetchOne = async () => (await boss.fetch(QUEUE, { groupConcurrency: 1000 }))[0]!.id
  const ids: string[] = []
  const alone = await measure({
    create: () => boss.send(QUEUE, {}, group),
    claim: async (i) => {
      ids[i] = await fetchOne()
    },
    renew: (i) => boss.touch(QUEUE, ids[i]!),
    end: (i) => boss.complete(QUEUE, ids[i]!),
  })

  const leases: Lease[] = []
  const end = (i: number) => finishJob(db, leases[i]!, { result: {} as JobResult, at: 1 })
  const measured = await measure({
    create: () => addJob(db),
    claim: async (i) => {
      leases[i] = (await claim(db, { maxPerAccount: 1000 }))!.lease
    },
    renew: (i) => renewLease(db, leases[i]!, { leaseMs: 30_000 }),
    end,
  })

  // The row stays the truth and its epoch the fence, as the queue message is only a reason to look.
  const both = await measure({
    create: () =>
      inTransaction(db, async (tx) => {
        const id = await addJob(tx)
        const executeSql = (text: string, values: unknown[] = []) => {
          return tx.sql.executeQuery(CompiledQuery.raw(text, values)) as Promise<{ rows: never[] }>
        }
        await boss.send(QUEUE, { id }, { ...group, db: { executeSql } })
      }),
    claim: async (i) => {
      const [message] = await boss.fetch<{ id: string }>(QUEUE, { groupConcurrency: 1000 })
      const { id } = message!.data
      ids[i] = message!.id
      const { rows } = await sql<{ epoch: number }>`update jobs set status = 'processing',
        attempt = attempt + 1, lease_owner = ${db.nodeId}, lease_epoch = lease_epoch + 1
        where id = ${id} and status = 'queued' returning lease_epoch as epoch`.execute(db.sql)
      leases[i] = { id, epoch: rows[0]!.epoch }
    },
    renew: (i) => boss.touch(QUEUE, ids[i]!),
    end: async (i) => {
      await end(i)
      await boss.complete(QUEUE, ids[i]!)
    },
  })
  const total = (costs: Costs) => {
    return Object.values(costs).reduce((sum, { statements }) => sum + statements, 0)
  }
  for (const costs of [alone, measured, both])
    t.diagnostic(JSON.stringify({ ...costs, total: total(costs) }))
  assert.ok(total(alone) < total(measured), 'a message costs less than a job')
  assert.ok(total(both) > total(measured), 'a job and its message cost more than the job alone')
})
