import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { sqliteSchema } from '../../../test/support/storage/databases/sqlite-schema.ts'
import {
  createDatabase,
  noPostgres,
} from '../../../test/support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import {
  connectClient,
  postgresSchema,
} from '../../../test/support/storage/upgrades/upgrade-stores.ts'
import { databaseFile } from '../data-folder/data-folder.ts'
import { laterVersions } from './postgres/migrations.ts'
import { openPostgres } from './postgres/postgres.ts'
import { FIRST_VERSION, firstSchema } from './postgres/schema.ts'
import { openSqlite } from './sqlite/sqlite.ts'

const [nodes, search, usage, edits, audit] = [13, 14, 15, 16, 17]

/** What commits had made after version 12, in the order of each. */
const orders = [
  [edits],
  [nodes, usage],
  [nodes, usage, audit],
  [nodes, search, edits],
  [nodes, search, edits, usage, audit],
  [nodes, search, usage, edits],
]

const migrations = await Promise.all(
  readdirSync(new URL('migrations', import.meta.url))
    .sort()
    .map(async (name): Promise<{ statements: string[] }> => import(`./migrations/${name}`)),
)

/** Creates a database with the first twelve versions and then these. */
async function makeSqlite(t: TestContext, order: readonly number[]): Promise<string> {
  const folder = await makeFolder(t)
  const database = new DatabaseSync(databaseFile(folder))
  const versions = [...Array(12).keys()].map((i) => i + 1).concat(order)
  for (const version of versions) {
    for (const statement of migrations[version - 1]!.statements) database.exec(statement)
  }
  database.exec('create table schema_version (version integer not null)')
  database.exec(`insert into schema_version values (${versions.length})`)
  database.close()
  return folder
}

describe('a database migrated in another order gets the missing changes', () => {
  for (const order of orders) {
    test(`SQLite: ${order}`, async (t) => {
      const fresh = await makeFolder(t)
      await (await openSqlite(databaseFile(fresh))).destroy()
      const folder = await makeSqlite(t, order)
      await (await openSqlite(databaseFile(folder))).destroy()
      assert.deepEqual(sqliteSchema(folder), sqliteSchema(fresh))
    })

    test(`PostgreSQL: ${order}`, { skip: noPostgres }, async (t) => {
      const settings = await createDatabase()
      const client = await connectClient(t, settings.url)
      const later = [11, 12, ...order].map((version) => laterVersions[version - FIRST_VERSION - 1]!)
      // The first databases with corrections had no links.
      const isFirst = order.length === 1
      for (const statement of [...firstSchema, ...later.flat()]) {
        if (!isFirst || !/\bshares\b/.test(statement)) await client.query(statement)
      }
      await client.query('create table schema_version (version integer not null)')
      await client.query(`insert into schema_version values (${12 + order.length})`)
      await (await openPostgres(settings, { version: 'migrate' })).close()
      const fresh = await createDatabase()
      await (await openPostgres(fresh, { version: 'migrate' })).close()
      const expected = await postgresSchema(await connectClient(t, fresh.url))
      assert.deepEqual(await postgresSchema(client), expected)
    })
  }
})
