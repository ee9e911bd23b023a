/** A migration that ends at any of its statements leaves the old tables or the new ones. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import type { Client } from 'pg'
import { databaseFile } from '../../../../src/storage/data-folder/data-folder.ts'
import { openPostgres } from '../../../../src/storage/database/postgres/postgres.ts'
import { SQLITE_VERSION } from '../../../../src/storage/database/sqlite/migrate.ts'
import { type ConnectSqlite, openSqlite } from '../../../../src/storage/database/sqlite/sqlite.ts'
import { openCutPostgres } from '../../../support/storage/databases/cut-postgres.ts'
import { connectInProcess } from '../../../support/storage/databases/in-process-sqlite.ts'
import { sqliteSchema } from '../../../support/storage/databases/sqlite-schema.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'
import {
  connectClient,
  loadDump,
  postgresSchema,
  unpackStore,
} from '../../../support/storage/upgrades/upgrade-stores.ts'

/** The first versions, so that every later migration runs. */
const OLDEST_SQLITE = 'sqlite-1.tgz'
const OLDEST_POSTGRES = 'postgres-10.tgz'
/** Where the write to the log of a commit is cut off. */
const CUTS = 16

/** Returns the ids of the jobs in a data folder. */
function jobsIn(folder: string): unknown[] {
  const database = new DatabaseSync(databaseFile(folder), { readOnly: true })
  const rows = database.prepare('select id from jobs order by id').all()
  database.close()
  return rows.map(({ id }) => id)
}

/** Changes nothing: whoever closes a database for writing tidies up its log. */
function versionIn(folder: string): unknown {
  const database = new DatabaseSync(databaseFile(folder), { readOnly: true })
  const row = database.prepare('select version from schema_version').get()
  database.close()
  return row?.version
}

/** Copies what a process that is killed now leaves in the file system. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const end of ['', '-wal', '-shm']) {
    const file = databaseFile(from) + end
    await copyFile(file, databaseFile(to) + end).catch(() => {})
  }
}

async function hashOf(folder: string): Promise<string> {
  const hash = createHash('sha256')
  for (const end of ['', '-wal']) {
    hash.update(await readFile(databaseFile(folder) + end).catch(() => Buffer.alloc(0)))
  }
  return hash.digest('hex')
}

describe('a migration on SQLite', () => {
  /** Migrates a store; returns a copy of it as it was after each statement. */
  async function migrateCopying(t: TestContext, data: string): Promise<string[]> {
    const folder = await makeFolder(t)
    const copies: string[] = []
    const connect: ConnectSqlite = (options) => {
      const connection = connectInProcess(options)
      if (options.readOnly) return connection
      return {
        ...connection,
        async run(sql, parameters, options) {
          // Few pages fit, so that much is written before the commit.
          const isSize = sql.startsWith('pragma cache_size =')
          const text = isSize ? 'pragma cache_size = 2' : sql
          const outcome = await connection.run(text, parameters, options)
          const copy = join(folder, String(copies.length))
          copies.push(copy)
          await copyDatabase(data, copy)
          return outcome
        },
      }
    }
    await (await openSqlite(databaseFile(data), { connect })).destroy()
    return copies
  }

  test('database files after any statement open with complete data', async (t) => {
    const { data } = await unpackStore(t, OLDEST_SQLITE)
    // From here on the log holds only what the migration writes.
    const database = new DatabaseSync(databaseFile(data))
    database.exec('pragma wal_checkpoint(truncate)')
    database.close()
    const jobs = jobsIn(data)
    assert.ok(jobs.length >= 3)
    const copies = await migrateCopying(t, data)
    assert.ok(copies.length > 80, `${copies.length} statements`)
    const committed = copies.findIndex((copy) => versionIn(copy) === SQLITE_VERSION)
    assert.ok(committed > 80)
    // What is written at the end may be cut off anywhere.
    const log = `${databaseFile(copies[committed]!)}-wal`
    const { size } = await stat(log)
    for (let cut = 0; cut < CUTS; cut++) {
      const copy = join(dirname(copies[0]!), `cut-${cut}`)
      await copyDatabase(copies[committed]!, copy)
      await truncate(`${databaseFile(copy)}-wal`, Math.floor((size * cut) / CUTS))
      copies.push(copy)
    }
    const expected = sqliteSchema(data)
    const seen = new Set<string>()
    const found: unknown[] = []
    for (const copy of copies) {
      const hash = await hashOf(copy)
      if (seen.has(hash)) continue
      seen.add(hash)
      found.push(versionIn(copy))
      const opened = await openSqlite(databaseFile(copy), { connect: connectInProcess })
      await opened.destroy()
      assert.deepEqual(sqliteSchema(copy), expected, copy)
      assert.deepEqual(jobsIn(copy), jobs, copy)
    }
    assert.ok(seen.size > CUTS + 10, `${seen.size} states`)
    assert.deepEqual([...new Set(found)].sort(), [1, SQLITE_VERSION])
  })
})

describe('a migration on PostgreSQL', { skip: noPostgres }, () => {
  async function versionOf(client: Client): Promise<number> {
    const { rows } = await client.query('select version from schema_version')
    return rows[0].version
  }

  async function jobsOf(client: Client): Promise<unknown[]> {
    return (await client.query('select id from jobs order by id')).rows
  }

  test('a connection lost after any statement leaves all or nothing', {
    timeout: 300_000,
  }, async (t) => {
    const { folder } = await unpackStore(t, OLDEST_POSTGRES)
    const settings = await createDatabase()
    const client = await connectClient(t, settings.url)
    await loadDump(client, folder)
    const before = await postgresSchema(client)
    const jobs = await jobsOf(client)
    assert.ok(jobs.length >= 3)
    const way = await openCutPostgres(settings.url)
    t.after(() => way.close())
    const from = await versionOf(client)
    let statements = 0
    while ((await versionOf(client)) === from) {
      way.cutAfter(++statements)
      const opening = openPostgres({ ...settings, url: way.url }, { version: 'migrate' })
      await assert.rejects(opening, /database|connection/i)
      assert.ok(way.isCut)
      if ((await versionOf(client)) === from) assert.deepEqual(await postgresSchema(client), before)
    }
    assert.ok(statements > 40, `${statements} statements`)
    // Only the answer to the commit was lost; the next start finds its work done.
    await (await openPostgres(settings, { version: 'same' })).close()
    const fresh = await createDatabase()
    await (await openPostgres(fresh, { version: 'migrate' })).close()
    const expected = await postgresSchema(await connectClient(t, fresh.url))
    assert.deepEqual(await postgresSchema(client), expected)
    assert.deepEqual(await jobsOf(client), jobs)
  })
})
