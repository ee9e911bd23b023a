/**
 * Measures lists over HTTP from a store of 1,000,000 jobs with metadata, one request at a time,
 * against their limits, and the creation of jobs. Filling the store takes about two minutes. With
 * `STENO_BENCH=postgres` the store is a PostgreSQL server of its own; `STENO_BENCH_JOBS` sets
 * another number of jobs.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../scripts/tests/test-tools/test-postgres.ts'
import { makeDataFolder } from '../../src/storage/data-folder/data-folder.ts'
import { openPostgres } from '../../src/storage/database/postgres/postgres.ts'
import { openSqlite } from '../../src/storage/database/sqlite/sqlite.ts'
import { metadataTokens } from '../../src/storage/jobs/lists/metadata-tokens.ts'
import { load } from '../support/load.ts'
import { report } from '../support/report.ts'
import { peakMemory, serveSteno } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const JOBS = Number(process.env.STENO_BENCH_JOBS ?? 1_000_000)
const isPostgres = process.env.STENO_BENCH === 'postgres'
const SECONDS = 3
/** Jobs per statement when PostgreSQL is filled. */
const BATCH = 2000
const FIRST_AT = Date.UTC(2026, 0, 1)

const params = JSON.stringify({
  audio_url: 'https://a.example/talk.mp3',
  model: 'stt-1',
  note: 'x'.repeat(400),
})
const result = JSON.stringify({
  metadata: {},
  transcription: { full_transcript: 'hello world '.repeat(40) },
})

/**
 * Each list with its limit for the 95th percentile, in milliseconds; undefined where there is none.
 */
const readonly: [what: string, query: string, limit?: number][] = [
  ['plain', '/v2/transcription', 20],
  ['one kind', '/v2/pre-recorded', 20],
  ['status, common', '/v2/pre-recorded?status=done', 20],
  ['status, rare', '/v2/pre-recorded?status=error', 20],
  ['two states, both kinds', '/v2/transcription?status=done&status=error', 20],
  ['a day', '/v2/transcription?date=2026-01-01', 20],
  ['metadata, 1 job', '/v2/pre-recorded?custom_metadata={"order":"777001"}', 50],
  ['metadata, 180 jobs', '/v2/pre-recorded?custom_metadata[customer][id]=77', 50],
  ['metadata, 1 in 3', '/v2/pre-recorded?custom_metadata[team]=red', 50],
  [
    'metadata, common and rare',
    '/v2/pre-recorded?custom_metadata={"team":"red","customer":{"id":77}}',
    50,
  ],
  ['metadata and status, rare', '/v2/pre-recorded?custom_metadata[team]=red&status=error', 50],
  ['metadata, none', '/v2/pre-recorded?custom_metadata[team]=pink', 50],
  ['offset 100,000', '/v2/transcription?offset=100000', 100],
  ['offset 999,000', '/v2/transcription?offset=999000', 100],
  ['offset 800,000 of one kind', '/v2/pre-recorded?offset=800000', 100],
  [
    'offset 800,000, two states, both kinds',
    '/v2/transcription?status=done&status=error&offset=800000',
    100,
  ],
  ['page of 1000', '/v2/transcription?limit=1000'],
]

const folder = await temporaryFolder()
const data = join(folder, 'data')
const postgresFolder = isPostgres ? makePostgresFolder() : undefined
const databaseUrl = postgresFolder && postgresUrl(postgresFolder, 'postgres')
if (postgresFolder) {
  // The default settings, except for the memory of a machine with such a store.
  const settings = ['shared_buffers=1GB', 'autovacuum=on']
  await startPostgres(postgresFolder, { isDurable: true, settings })
  await fillPostgres(databaseUrl!)
} else await fill()
const started = performance.now()
const steno = await serveSteno(data, {
  STENO_MAX_QUEUED_JOBS: '1000000',
  STENO_RETENTION_DAYS: '0',
  ...(databaseUrl && { STENO_DATABASE_URL: databaseUrl }),
})
report({ bench: 'list', what: 'start of the server', jobs: JOBS, ms: performance.now() - started })
for (const [what, path, limit] of readonly) {
  const options = { connections: 1, seconds: SECONDS }
  const { p50, p95, p99 } = await load(steno.url, () => ({ path }), options)
  report({ bench: 'list', what, p50, p95, p99, limit })
}
const json = { audio_url: 'http://127.0.0.1:9/a.wav', custom_metadata: { team: 'red', order: 1 } }
const create = { path: '/v2/pre-recorded', method: 'POST', json } as const
const { p50, p95, p99 } = await load(steno.url, () => create, {
  connections: 1,
  seconds: SECONDS,
  status: 201,
})
report({
  bench: 'list',
  what: 'create',
  p50,
  p95,
  p99,
  serverMB: (await peakMemory(steno.process)) / 1e6,
})
await steno.stop()
await rm(folder, { recursive: true })
if (postgresFolder) await removePostgres(postgresFolder)
process.exit()

/** The i-th ended job of one account: one in ten of them live, one in a thousand failed. */
function jobOf(i: number) {
  const status = i % 1000 === 1 ? 'error' : 'done'
  return {
    id: randomUUID(),
    kind: i % 10 === 0 ? 'live' : 'pre-recorded',
    status,
    at: FIRST_AT + i * 1000,
    result: status === 'error' ? null : result,
    metadata: {
      team: ['red', 'blue', 'green'][i % 3],
      customer: { id: i % 5000, tier: 'gold' },
      order: i,
    },
  }
}

async function fill(): Promise<void> {
  await makeDataFolder(data)
  const file = join(data, 'steno.sqlite')
  await (await openSqlite(file)).destroy()
  const db = new DatabaseSync(file)
  db.exec('pragma synchronous = off; begin')
  const insertJob =
    db.prepare(`insert into jobs (id, account, kind, status, created_at, completed_at,
    custom_metadata, request_params, run_after, file_id, file_filename, result)
    values (?, 'bench', ?, ?, ?, ?, ?, ?, 0, ?, 'talk.mp3', ?)`)
  const insertToken = db.prepare(
    'insert into job_metadata (token, created_at, id, kind) values (?, ?, ?, ?)',
  )
  for (let i = 0; i < JOBS; i++) {
    const { id, kind, status, at, metadata, result } = jobOf(i)
    const text = JSON.stringify(metadata)
    insertJob.run(id, kind, status, at, at + 500, text, params, randomUUID(), result)
    for (const token of metadataTokens('bench', metadata)) insertToken.run(token, at, id, kind)
    // Otherwise the journal would contain the whole store.
    if (i % 100_000 === 0) db.exec('commit; begin')
  }
  db.exec('commit')
  db.close()
}

async function fillPostgres(url: string): Promise<void> {
  const settings = { url, connections: 2, statementSeconds: 600, startSeconds: 10 }
  const { sql: database, close } = await openPostgres(settings, { version: 'migrate' })
  await sql`set synchronous_commit = off`.execute(database)
  for (let from = 0; from < JOBS; from += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, JOBS - from) }, (_, i) => jobOf(from + i))
    const column = (name: keyof (typeof jobs)[number]) => jobs.map((job) => job[name])
    const texts = jobs.map(({ metadata }) => JSON.stringify(metadata))
    await sql`insert into jobs (id, account, kind, status, created_at, completed_at,
        custom_metadata, request_params, run_after, file_id, file_filename, result)
      select id, 'bench', kind, status, at, at + 500, metadata, ${params}, 0, id, 'talk.mp3', result
      from unnest(${column('id')}::text[], ${column('kind')}::text[], ${column('status')}::text[],
        ${column('at')}::bigint[], ${texts}::text[], ${column('result')}::text[])
        as job (id, kind, status, at, metadata, result)`.execute(database)
    const tokens = jobs.flatMap(({ id, at, kind, metadata }) => {
      return metadataTokens('bench', metadata).map((token) => ({ token, at, id, kind }))
    })
    await sql`insert into job_metadata (token, created_at, id, kind)
      select * from unnest(${tokens.map(({ token }) => token)}::bytea[],
        ${tokens.map(({ at }) => at)}::bigint[], ${tokens.map(({ id }) => id)}::text[],
        ${tokens.map(({ kind }) => kind)}::text[])`.execute(database)
  }
  // Autovacuum would do this later.
  for (const table of ['jobs', 'job_metadata', 'account_byte_changes']) {
    await sql`vacuum analyze ${sql.table(table)}`.execute(database)
  }
  await close()
}
