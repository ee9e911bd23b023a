/** What servers of earlier versions left behind, under this one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { databaseFile } from '../../../src/storage/data-folder.ts'
import { openPostgres } from '../../../src/storage/postgres/postgres.ts'
import { SQLITE_VERSION } from '../../../src/storage/sqlite/migrate.ts'
import { call } from '../../support/http-client.ts'
import { rounds } from '../../support/rounds.ts'
import { sqliteSchema } from '../../support/sqlite-schema.ts'
import { startServer, type TestServer } from '../../support/start-server.ts'
import { createDatabase, noPostgres } from '../../support/test-postgres.ts'
import {
  connectClient,
  type ExpectedStore,
  loadDump,
  postgresSchema,
  storeNames,
  unpackStore,
} from '../../support/upgrade-stores.ts'

type Job = {
  id: string
  status: string
  custom_metadata: unknown
  result: { transcription: { full_transcript: string } }
}

/** The oldest one, and about how many statements bring it to this version. */
const OLDEST = 'sqlite-1.tgz'
const STATEMENTS = 90
const killed = join(import.meta.dirname, '../../support/killed-migration.ts')

/** Migrates a database in a process that is killed before a statement, unless it has fewer. */
function migrate(data: string, statement: number) {
  const args = ['--disable-warning=ExperimentalWarning', killed, databaseFile(data)]
  return spawnSync(process.execPath, [...args, String(statement)], { stdio: 'inherit' })
}

async function start(t: TestContext, { key }: ExpectedStore, env: Record<string, string>) {
  const server = await startServer({ env: { ...env, STENO_API_KEYS: `acme:${key}` } })
  t.after(() => server.close())
  return { ...server, key }
}

async function checkContent(server: TestServer, expected: ExpectedStore): Promise<void> {
  const get = async <T>(path: string) => (await call<T>(server, path)).body
  for (const { id, transcript, metadata } of expected.done) {
    const job = await get<Job>(`/v2/pre-recorded/${id}`)
    assert.equal(job.status, 'done')
    assert.equal(job.result.transcription.full_transcript, transcript)
    assert.deepEqual(job.custom_metadata, metadata)
    const file = await fetch(`${server.url}/v2/pre-recorded/${id}/file`, {
      headers: { 'x-service-key': server.key },
    })
    assert.equal((await file.arrayBuffer()).byteLength, 8099)
  }
  const { live, interrupted, done } = expected
  if (live) {
    const session = await get<Job>(`/v2/live/${live.id}`)
    assert.equal(session.result.transcription.full_transcript, live.transcript)
  }
  // The recording that nobody had finished.
  let status = 'queued'
  while (status === 'queued' || status === 'processing') {
    ;({ status } = await get<Job>(`/v2/pre-recorded/${interrupted}/progress?wait=10`))
  }
  assert.equal(status, 'done')
  const all = [...done.map(({ id }) => id), interrupted, ...(live ? [live.id] : [])]
  const listed = [
    ...(await get<{ items: Job[] }>('/v2/pre-recorded')).items,
    ...(await get<{ items: Job[] }>('/v2/live')).items,
  ]
  assert.deepEqual(listed.map(({ id }) => id).sort(), all.sort())
  await checkFound(server, expected)
  const { id } = done[0]!
  const deleted = await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal(deleted.status, 202)
  assert.equal((await call(server, `/v2/pre-recorded/${id}`)).status, 404)
}

/** Old transcripts are found by their words once the index has caught up. */
async function checkFound(server: TestServer, { done }: ExpectedStore): Promise<void> {
  const word = done[0]!.transcript.split(' ')[3]
  for (;;) {
    const { body } = await call<{ items: { job: { id: string } }[] }>(
      server,
      `/v2/search?q=${word}`,
    )
    const found = new Set(body.items.map(({ job }) => job.id))
    if (done.every(({ id }) => found.has(id))) return
  }
}

describe('data folders', () => {
  for (const name of storeNames.filter((name) => name.startsWith('sqlite-'))) {
    test(name, { timeout: 60_000 }, async (t) => {
      const { data, expected } = await unpackStore(t, name)
      const server = await start(t, expected, { STENO_DATA_DIR: data })
      await checkContent(server, expected)
      const fresh = await startServer()
      t.after(() => fresh.close())
      assert.deepEqual(sqliteSchema(data), sqliteSchema(fresh.folder))
    })
  }

  test('a migration that is killed at any statement goes on', async (t) => {
    const { data, expected } = await unpackStore(t, OLDEST)
    const step = Math.max(1, Math.floor(STATEMENTS / rounds(12)))
    let kills = 0
    for (let statement = 0; migrate(data, statement).signal === 'SIGKILL'; statement += step) {
      kills++
    }
    assert.ok(kills >= 12, `${kills} kills`)
    await checkContent(await start(t, expected, { STENO_DATA_DIR: data }), expected)
  })

  test('there is one of each version since the first session, and of this one', () => {
    const versions = storeNames.map((name) => Number(/^sqlite-(\d+)/.exec(name)?.[1]))
    assert.ok(versions.includes(SQLITE_VERSION), 'see docs/releasing.md')
  })
})

describe('PostgreSQL databases', { skip: noPostgres }, () => {
  for (const name of storeNames.filter((name) => name.startsWith('postgres-'))) {
    test(name, { timeout: 60_000 }, async (t) => {
      const { folder, data, expected } = await unpackStore(t, name)
      const { url } = await createDatabase()
      const client = await connectClient(t, url)
      await loadDump(client, folder)
      const server = await start(t, expected, { STENO_DATA_DIR: data, STENO_DATABASE_URL: url })
      await checkContent(server, expected)
      const fresh = await createDatabase()
      await (await openPostgres(fresh, { version: 'migrate' })).close()
      const expectedSchema = await postgresSchema(await connectClient(t, fresh.url))
      assert.ok(expectedSchema.length > 100)
      assert.deepEqual(await postgresSchema(await connectClient(t, url)), expectedSchema)
    })
  }

  test('there is one of this version', () => {
    assert.ok(storeNames.includes(`postgres-${SQLITE_VERSION}.tgz`), 'see docs/releasing.md')
  })
})
