import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { captureLog } from '../../../../test/support/server/captured-log.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { statements } from '../migrations/0001-jobs.ts'
import { logProgress, type MigrationProgress } from './migration-progress.ts'
import { openSqlite } from './sqlite.ts'

/** Creates the database of version 1 with this many jobs, each with metadata of two keys. */
async function makeOldDatabase(t: TestContext, jobs: number): Promise<string> {
  const file = join(await makeFolder(t), 'steno.sqlite')
  const database = new DatabaseSync(file)
  database.exec('begin')
  for (const statement of statements) database.exec(statement)
  database.exec('create table schema_version (version integer not null)')
  database.exec('insert into schema_version values (1)')
  const insert = database.prepare(
    `insert into jobs (id, account, kind, status, created_at, custom_metadata, run_after)
      values (?, 'acme', 'pre-recorded', 'done', ?, ?, 0)`,
  )
  for (let n = 0; n < jobs; n++) {
    insert.run(`job-${String(n).padStart(6, '0')}`, n, JSON.stringify({ n, of: 'migration' }))
  }
  database.exec('commit')
  database.close()
  return file
}

function query(file: string, sql: string): unknown {
  const database = new DatabaseSync(file)
  const row = database.prepare(sql).get()
  database.close()
  return Object.values(row!)[0]
}

const noProgress: MigrationProgress = { begin() {}, rows() {}, end() {} }

test('after the migration every job is found by its metadata', async (t) => {
  const file = await makeOldDatabase(t, 1234)
  await (await openSqlite(file)).destroy()
  assert.equal(query(file, 'select count(*) from job_metadata'), 2 * 1234)
  assert.equal(query(file, 'select count(distinct token) from job_metadata'), 1235)
  assert.equal(query(file, "select count(*) from job_metadata where id = 'job-001233'"), 2)
})

test('a migration logs its start, progress and end', async (t) => {
  const file = await makeOldDatabase(t, 41_000)
  const { log, lines } = captureLog()
  await (await openSqlite(file, { progress: logProgress(log) })).destroy()
  assert.deepEqual(
    lines.map(({ rows, from }) => rows ?? from),
    [1, 20_000, 40_000, undefined],
  )
  assert.ok(Number(lines.at(-1)?.seconds) > 0)
  const before = lines.length
  await (await openSqlite(file, { progress: logProgress(log) })).destroy()
  assert.equal(lines.length, before, 'a database of this version is not migrated')
})

test('an aborted migration stops at once and keeps the old database', async (t) => {
  const file = await makeOldDatabase(t, 5000)
  const stop = new AbortController()
  const seen: number[] = []
  const progress = {
    ...noProgress,
    rows(_version: number, rows: number) {
      seen.push(rows)
      stop.abort()
    },
  }
  await assert.rejects(openSqlite(file, { progress, signal: stop.signal }), { name: 'AbortError' })
  assert.deepEqual(seen, [500])
  assert.equal(query(file, 'select version from schema_version'), 1)
  assert.equal(query(file, `select count(*) from sqlite_master where name = 'job_metadata'`), 0)
  await (await openSqlite(file)).destroy()
  assert.equal(query(file, 'select count(*) from job_metadata'), 10_000)
})
