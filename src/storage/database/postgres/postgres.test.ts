import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../../../scripts/tests/test-tools/test-postgres.ts'
import {
  createDatabase,
  noPostgres,
  openTestPostgres,
  testSettings,
} from '../../../../test/support/storage/databases/test-postgres.ts'
import { MAX_TIMER_S } from '../../../config/env-reader.ts'
import { insertKey, listKeys } from '../../accounts/keys.ts'
import { inTransaction } from '../db.ts'
import { laterVersions } from './migrations.ts'
import { openPostgres } from './postgres.ts'
import { FIRST_VERSION } from './schema.ts'

const key = { hash: 'ab12', account: 'acme', prefix: 'steno_x', createdAt: 7 }

test('an unreachable database is reported without its password', async () => {
  const url = 'postgres://me:secret@127.0.0.1:1/steno'
  const waits: unknown[] = []
  const onWait = (reason: unknown) => void waits.push(reason)
  const settings = { ...testSettings, url, startSeconds: 1 }
  const opening = openPostgres(settings, { version: 'migrate', onWait })
  await assert.rejects(opening, ({ message }: Error) => {
    assert.match(message, /^Cannot open the database steno at 127\.0\.0\.1:1: .*ECONNREFUSED/)
    assert.doesNotMatch(message, /secret/)
    return true
  })
  assert.equal(waits.length, 1)
  assert.doesNotMatch(JSON.stringify(waits), /secret/)
})

describe('openPostgres with a running server', { skip: noPostgres }, () => {
  test('opening waits for a database that is starting', async (t) => {
    const folder = makePostgresFolder()
    t.after(() => removePostgres(folder))
    const settings = { ...testSettings, url: postgresUrl(folder, 'postgres'), startSeconds: 60 }
    const opening = openPostgres(settings, { version: 'migrate' })
    await delay(100)
    await startPostgres(folder)
    const { sql: database, close } = await opening
    assert.deepEqual(await listKeys({ sql: database }), [])
    await close()
  })

  test('of servers that start together one creates the tables', async () => {
    const settings = await createDatabase()
    let made = 0
    const options = { version: 'migrate', onEmpty: async () => void made++ } as const
    const opened = await Promise.all([1, 2, 3, 4].map(() => openPostgres(settings, options)))
    assert.ok(made >= 1)
    const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(
      opened[0]!.sql,
    )
    assert.deepEqual(rows, [{ version: FIRST_VERSION + laterVersions.length }])
    await Promise.all(opened.map(({ close }) => close()))
  })

  test('a database of a newer version is rejected and unchanged', async () => {
    const settings = await createDatabase()
    const { sql: database, close } = await openPostgres(settings, { version: 'migrate' })
    await sql`update schema_version set version = 99`.execute(database)
    await close()
    for (const version of ['migrate', 'create', 'same', 'known'] as const) {
      const refused =
        /^Error: Cannot open the database: it has version 99, this program supports version \d+; start the newer/
      await assert.rejects(openPostgres(settings, { version }), refused)
    }
  })

  test('a database without the right to create tables is rejected by name', async (t) => {
    const { url, ...settings } = await createDatabase()
    const admin = await openPostgres({ ...settings, url }, { version: 'known' })
    const user = `guest_${process.pid}`
    t.after(async () => {
      await sql`drop role ${sql.table(user)}`.execute(admin.sql)
      await admin.close()
    })
    await sql`create role ${sql.table(user)} login`.execute(admin.sql)
    const given = { ...settings, url: url.replace('steno@', `${user}@`) }
    const refused =
      /^Error: Cannot open the database test_\w+ at .*: permission denied for schema public; .*create tables.*\(STENO_DATABASE_URL\)$/
    await assert.rejects(openPostgres(given, { version: 'migrate' }), refused)
  })

  test('a server rejects a standby by name, a command may read it', async () => {
    const settings = await createDatabase()
    const { sql: database, close } = await openPostgres(settings, { version: 'migrate' })
    await sql`do $$ begin execute format(
      'alter database %I set default_transaction_read_only = on', current_database()); end $$`
      .execute(database)
      .finally(close)
    const refused = /^Error: Cannot open the database test_\w+ at .*: it is read-only/
    const opening = openPostgres({ ...settings, startSeconds: 0 }, { version: 'migrate' })
    await assert.rejects(opening, refused)
    await (await openPostgres(settings, { version: 'same' })).close()
  })

  test('a command creates tables only if allowed', async () => {
    const settings = await createDatabase()
    await assert.rejects(openPostgres(settings, { version: 'same' }), /no tables of this program/)
    await (await openPostgres(settings, { version: 'create' })).close()
    await (await openPostgres(settings, { version: 'same' })).close()
  })

  test('a select is retried after a lost connection, a write is not', async (t) => {
    const { db } = await openTestPostgres(t)
    await insertKey(db, key)
    await loseConnections(db)
    assert.equal((await listKeys(db)).length, 1)
    await loseConnections(db)
    await insertKey(db, { ...key, hash: 'cd34' }).catch(({ code }) => {
      // A write whose connection is lost may have been made: it is not repeated.
      assert.equal(code, 'database_unavailable')
    })
    assert.ok((await listKeys(db)).length >= 1)
  })

  test('a select is retried after repeated connection losses', async (t) => {
    const { db } = await openTestPostgres(t)
    let losses = 2
    const query = Client.prototype.query as (...args: unknown[]) => unknown
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: unknown[]) {
      const isOurs = /from "?keys/.test(String(args[0]))
      if (!isOurs || losses-- <= 0) return query.apply(this, args)
      return Promise.reject(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    })
    assert.deepEqual(await listKeys(db), [])
    assert.ok(losses < 0)
  })

  test('a transaction with a serialization conflict is retried', async (t) => {
    const { db } = await openTestPostgres(t)
    await insertKey(db, key)
    await insertKey(db, { ...key, hash: 'cd34' })
    const both = (first: string, second: string) => {
      return inTransaction(db, async (tx) => {
        const change = (hash: string) =>
          tx.sql
            .updateTable('keys')
            .set((row) => ({ created_at: row('created_at', '+', 1) }))
            .where('hash', '=', hash)
            .execute()
        await change(first)
        await delay(50)
        await change(second)
      })
    }
    await Promise.all([both('ab12', 'cd34'), both('cd34', 'ab12')])
    assert.deepEqual(
      (await listKeys(db)).map(({ createdAt }) => createdAt),
      [9, 9],
    )
  })

  test('statement timeouts and a full disk have documented error codes', async (t) => {
    const { db, database } = await openTestPostgres(t)
    const impatient = await openPostgres({ ...database, statementSeconds: 1 }, { version: 'same' })
    const slow = sql`select pg_sleep(5)`.execute(impatient.sql)
    await assert.rejects(slow, { code: 'database_unavailable', retryAfter: 2 })
    await impatient.close()
    const full = sql`do $$ begin raise exception 'full' using errcode = '53100'; end $$`
    await assert.rejects(full.execute(db.sql), { code: 'storage_full' })
  })

  test('the longest statement timeout that the settings allow works', async (t) => {
    const { database } = await openTestPostgres(t)
    const patient = { ...database, statementSeconds: MAX_TIMER_S }
    const opened = await openPostgres(patient, { version: 'same' })
    await sql`select pg_sleep(0.1)`.execute(opened.sql)
    await opened.close()
  })

  test('texts keep every character except NUL', async (t) => {
    const { db } = await openTestPostgres(t)
    const name = 'tab\t ü 漢 🎙 \\ \' " \0 end'
    await insertKey(db, { ...key, name })
    assert.equal((await listKeys(db))[0]!.name, name.replace('\0', '\uFFFD'))
  })

  test('account totals are the same before and after compaction', async (t) => {
    const { db } = await openTestPostgres(t)
    const file = { filename: null, source: null, extension: 'wav', duration: 1, channels: 1 }
    for (const [i, account] of ['a', 'b', 'a'].entries()) {
      const row = { ...file, id: `f${i}`, account, size: 10 ** (i + 1), created_at: i }
      await db.sql.insertInto('files').values(row).execute()
    }
    await db.sql.deleteFrom('files').where('id', '=', 'f1').execute()
    const held = () => {
      return db.sql.selectFrom('account_bytes').selectAll().where('bytes', '>', 0).execute()
    }
    assert.deepEqual(await held(), [{ account: 'a', bytes: 1010 }])
    await db.runMaintenance?.()
    assert.deepEqual(await held(), [{ account: 'a', bytes: 1010 }])
  })
})

async function loseConnections(db: Parameters<typeof inTransaction>[0]): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'steno' and datname = current_database() and pid <> pg_backend_pid()`
    .execute(db.reader)
    .catch(() => {})
}
