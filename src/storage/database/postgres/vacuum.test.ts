import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import {
  noPostgres,
  openTestPostgres,
} from '../../../../test/support/storage/databases/test-postgres.ts'
import type { Db } from '../db.ts'
import { createPool } from './postgres-pool.ts'
import { createVacuum, VACUUMED_TABLES } from './vacuum.ts'

/**
 * Tables without anything that a customer says: ids, hashes, counts, and settings of the operator.
 */
const WITHOUT_CONTENT = [
  ...['account_byte_changes', 'account_bytes', 'audit_log', 'endpoints', 'events', 'keys'],
  ...['live_sessions', 'object_keys', 'owners', 'schema_version', 'search_languages'],
  ...['search_queue', 'shares', 'sign_ins', 'signing_secrets', 'usage'],
]

async function bytesOf(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_relation_size('live_batches') as bytes`.execute(db.sql)
  return rows[0]!.bytes
}

/** Stores something and deletes it. */
async function deleteSome(db: Db): Promise<void> {
  const batch = { job_id: 'a', seq: 0, writer: 'w', audio: Buffer.alloc(9), log: Buffer.alloc(9) }
  await db.sql.insertInto('live_batches').values(batch).execute()
  await db.sql.deleteFrom('live_batches').execute()
}

describe('vacuum with a running server', { skip: noPostgres }, () => {
  test('space of deleted rows is freed after a scrub', async (t) => {
    const { db } = await openTestPostgres(t)
    await deleteSome(db)
    await db.runMaintenance!()
    assert.notEqual(await bytesOf(db), 0)
    await db.dialect.eraseDeletedRows(db)
    await db.runMaintenance!()
    while ((await bytesOf(db)) > 0) await delay(10)
    await deleteSome(db)
    await db.dialect.eraseDeletedRows(db)
    await db.runMaintenance!()
    assert.notEqual(await bytesOf(db), 0, 'the next time comes later')
  })

  test('every table with customer content is vacuumed', async (t) => {
    const { db } = await openTestPostgres(t)
    const { rows } = await sql<{ name: string }>`select table_name as name
      from information_schema.tables where table_schema = 'public'`.execute(db.sql)
    const content = rows.map(({ name }) => name).filter((name) => !WITHOUT_CONTENT.includes(name))
    assert.deepEqual([...VACUUMED_TABLES].sort(), content.sort())
  })

  test('closing ends a long vacuum without an error', async (t) => {
    const { db, database } = await openTestPostgres(t)
    const rows = Array.from({ length: 1000 }, (_, seq) => {
      return { job_id: 'a', seq, writer: 'w', audio: Buffer.alloc(1000), log: Buffer.alloc(9) }
    })
    await db.sql.insertInto('live_batches').values(rows).execute()
    await db.sql.deleteFrom('live_batches').execute()
    const settings = { vacuum_cost_delay: '100', vacuum_cost_limit: '1' }
    const pool = { url: database.url, connections: 1, statementSeconds: 0, settings }
    const vacuum = createVacuum({
      main: db.sql,
      open: () => new Kysely({ dialect: new PostgresDialect({ pool: createPool(pool) }) }),
      onError: assert.ifError,
    })
    vacuum.request()
    vacuum.runIfDue()
    const progress = sql`select 1 from pg_stat_progress_vacuum
      where relid = 'live_batches'::regclass`
    while ((await progress.execute(db.sql)).rows.length === 0) await delay(10)
    await vacuum.close()
    assert.notEqual(await bytesOf(db), 0)
  })
})
