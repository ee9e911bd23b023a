import { after, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  SHARED_FOLDER,
  startPostgres,
  whyNoPostgres,
} from '../../../../scripts/tests/test-tools/test-postgres.ts'
import type { DatabaseConfig } from '../../../../src/config/storage/database.ts'
import { createLog } from '../../../../src/observability/log.ts'
import { openPostgres } from '../../../../src/storage/database/postgres/postgres.ts'
import { openStorage, type Storage } from '../../../../src/storage/storage.ts'
import { makeFolder } from '../test-storage.ts'

/** Why tests with PostgreSQL are skipped here; `false` if they run. */
export const noPostgres: string | false = whyNoPostgres() ?? false

let started: Promise<string> | undefined

/** Returns the folder of the server: that of the whole run, or one for this process. */
async function serverFolder(): Promise<string> {
  started ??= start()
  return started
}

async function start(): Promise<string> {
  const shared = process.env[SHARED_FOLDER]
  const folder = shared ?? makePostgresFolder()
  await startPostgres(folder)
  return folder
}

if (!process.env[SHARED_FOLDER]) {
  after(async () => {
    if (started) await removePostgres(await started)
  })
}

let made = 0

/** Settings of few connections, as a test needs them. */
export const testSettings = { connections: 4, statementSeconds: 30, startSeconds: 5 }

/** Creates an empty database, without tables, and returns its settings. */
export async function createDatabase(): Promise<DatabaseConfig> {
  const folder = await serverFolder()
  const name = `test_${process.pid}_${++made}`
  const settings = { ...testSettings, url: postgresUrl(folder, 'postgres') }
  const admin = await openPostgres(settings, { version: 'known' })
  await sql`create database ${sql.table(name)}`.execute(admin.sql)
  await admin.close()
  return { ...testSettings, url: postgresUrl(folder, name) }
}

/** Databases that a test has left, with empty tables. */
const free: DatabaseConfig[] = []

// Tables are small, and a truncation would make new files.
const EMPTY = `do $$ declare name text; begin
  for name in select tablename from pg_tables
    where schemaname = 'public' and tablename <> 'schema_version'
  loop execute format('delete from %I', name); end loop;
  -- Triggers note what was deleted above.
  delete from account_byte_changes;
  delete from events;
end $$`

/** Takes a database whose tables are empty, until the test has ended. */
export async function takeDatabase(t: TestContext): Promise<DatabaseConfig> {
  const settings = free.pop() ?? (await makeDatabase())
  t.after(async () => {
    // A connection that stayed open would hold the process for a minute after the last test.
    const client = new Client({ connectionString: settings.url })
    await client.connect()
    await client.query(EMPTY).finally(() => client.end())
    free.push(settings)
  })
  return settings
}

async function makeDatabase(): Promise<DatabaseConfig> {
  const settings = await createDatabase()
  await (await openPostgres(settings, { version: 'migrate' })).close()
  return settings
}

/** Opens a store of its own on PostgreSQL; both are left with the test. */
export async function openTestPostgres(
  t: TestContext,
): Promise<Storage & { folder: string; database: DatabaseConfig }> {
  const folder = await makeFolder(t)
  let close = async () => {}
  // The hooks run in order: the database is emptied when nothing uses it any more.
  t.after(() => close())
  const database = await takeDatabase(t)
  const storage = await openStorage({ folder, database, log: createLog('silent') })
  close = () => storage.close()
  return { ...storage, folder, database }
}
