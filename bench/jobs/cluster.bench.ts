/**
 * Measures several nodes on one PostgreSQL database, with a recognizer that only waits: jobs per
 * second with 1, 2 and 4 worker nodes, the time from creation to start, and the database statements
 * of a job, a second of a live session and an idle node. Needs PostgreSQL with pg_stat_statements.
 */
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { WebSocket } from 'ws'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../scripts/tests/test-tools/test-postgres.ts'
import { openPostgres } from '../../src/storage/database/postgres/postgres.ts'
import { report } from '../support/report.ts'
import { type Served, serveSteno } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavHeader } from '../support/wav.ts'

const WORKERS = [1, 2, 4]
const JOBS = 60
/** The recognition time of a job. Each worker node runs two jobs at a time. */
const WAIT_MS = 1500
const SESSIONS = 8
const SESSION_SECONDS = 10
const IDLE_SECONDS = 10
const BYTES_PER_SECOND = 32_000
const headers = { 'x-service-key': 'bench' }

const folder = await temporaryFolder()
const postgresFolder = makePostgresFolder()
const settings = ['shared_preload_libraries=pg_stat_statements', 'shared_buffers=512MB']
await startPostgres(postgresFolder, { isDurable: true, settings })
const url = postgresUrl(postgresFolder, 'postgres')
const database = { url, connections: 2, statementSeconds: 30, startSeconds: 5 }
const admin = await openPostgres(database, { version: 'migrate' })
await sql`create extension pg_stat_statements`.execute(admin.sql)

/** Starts a node; all nodes share the folder. */
function start(roles: string): Promise<Served> {
  return serveSteno(folder, {
    STENO_DATABASE_URL: url,
    STENO_ROLES: roles,
    STENO_MAX_CONCURRENT_JOBS: '1000',
    STENO_MAX_QUEUED_JOBS: '1000',
    STENO_LIVE_SLOTS: '100',
    BENCH_WAIT_MS: String(WAIT_MS),
  })
}

/** Returns the number of statements of all nodes since the last call. */
async function countStatements(): Promise<number> {
  const { rows } = await sql<{ calls: number }>`select coalesce(sum(calls), 0)::float as calls
    from pg_stat_statements where query not like '%pg_stat_statements%'`.execute(admin.sql)
  await sql`select pg_stat_statements_reset()`.execute(admin.sql)
  return rows[0]!.calls
}

async function post<T>(api: Served, path: string, json: object): Promise<T> {
  const body = JSON.stringify(json)
  const response = await fetch(api.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Uploads a second of silence. */
async function upload(api: Served): Promise<string> {
  const bytes = Buffer.concat([wavHeader(BYTES_PER_SECOND), Buffer.alloc(BYTES_PER_SECOND)])
  const form = new FormData()
  form.append('audio', new Blob([bytes]), 'one.wav')
  const response = await fetch(`${api.url}/v2/upload`, { method: 'POST', headers, body: form })
  return ((await response.json()) as { audio_url: string }).audio_url
}

/** Returns the mean seconds from creation to start, from the metrics of the nodes. */
async function meanQueueSeconds(nodes: readonly Served[]): Promise<number> {
  let [sum, count] = [0, 0]
  for (const node of nodes) {
    const text = await (await fetch(`${node.url}/metrics`)).text()
    sum += Number(/^steno_job_queue_seconds_sum (\S+)/m.exec(text)?.[1] ?? 0)
    count += Number(/^steno_job_queue_seconds_count (\S+)/m.exec(text)?.[1] ?? 0)
  }
  return sum / count
}

async function untilDone(): Promise<void> {
  for (;;) {
    const open = await admin.sql
      .selectFrom('jobs')
      .select('id')
      .where('status', 'in', ['queued', 'processing'])
      .limit(1)
      .execute()
    if (open.length === 0) return
    await delay(50)
  }
}

/** Streams silence at the pace of speech, and stops. */
async function runSession(api: Served): Promise<void> {
  const { url } = await post<{ url: string }>(api, '/v2/live', {})
  const socket = new WebSocket(url)
  await new Promise((resolve) => socket.once('open', resolve))
  for (let at = 0; at < SESSION_SECONDS * 10; at++) {
    socket.send(Buffer.alloc(BYTES_PER_SECOND / 10))
    await delay(100)
  }
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.send('{"type":"stop_recording"}')
  await closed
}

const api = await start('api,delivery')
const audio_url = await upload(api)
let first = 0
for (const count of WORKERS) {
  const nodes = await Promise.all(Array.from({ length: count }, () => start('worker')))
  // Waits until the start of the nodes is over.
  await delay(3000)
  await countStatements()
  await delay(IDLE_SECONDS * 1000)
  const idle = (await countStatements()) / IDLE_SECONDS
  const begun = performance.now()
  for (let i = 0; i < JOBS; i++) await post(api, '/v2/pre-recorded', { audio_url })
  await untilDone()
  const seconds = (performance.now() - begun) / 1000
  const statements = (await countStatements()) - idle * seconds
  const perSecond = JOBS / seconds
  first ||= perSecond
  report({
    bench: 'cluster',
    workers: count,
    jobs: JOBS,
    perSecond,
    ratio: perSecond / first,
    meanQueueSeconds: await meanQueueSeconds(nodes),
    statementsPerJob: statements / JOBS,
    idleStatementsPerSecondAndNode: idle / (count + 1),
  })
  await Promise.all(nodes.map((node) => node.stop()))
}

const nodes = await Promise.all([start('live'), start('live')])
await delay(3000)
await countStatements()
await delay(IDLE_SECONDS * 1000)
const idle = (await countStatements()) / IDLE_SECONDS
const begun = performance.now()
await Promise.all(Array.from({ length: SESSIONS }, () => runSession(api)))
const seconds = (performance.now() - begun) / 1000
const statements = (await countStatements()) - idle * seconds
const sessionSeconds = SESSIONS * SESSION_SECONDS
report({
  bench: 'cluster',
  sessions: SESSIONS,
  nodes: nodes.length,
  statementsPerSessionSecond: statements / sessionSeconds,
})

await Promise.all([api, ...nodes].map((node) => node.stop()))
await admin.close()
await removePostgres(postgresFolder)
await rm(folder, { recursive: true })
