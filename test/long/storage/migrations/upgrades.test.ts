/** What servers of earlier versions left behind, under this one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { databaseFile } from '../../../../src/storage/data-folder/data-folder.ts'
import { openPostgres } from '../../../../src/storage/database/postgres/postgres.ts'
import { SQLITE_VERSION } from '../../../../src/storage/database/sqlite/migrate.ts'
import { IS_SHORT, rounds } from '../../../support/random/rounds.ts'
import { startServer } from '../../../support/server/start-server.ts'
import { sqliteSchema } from '../../../support/storage/databases/sqlite-schema.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { checkUpgraded, startUpgraded } from '../../../support/storage/upgrades/check-upgraded.ts'
import {
  connectClient,
  loadDump,
  postgresSchema,
  storeNames,
  unpackStore,
} from '../../../support/storage/upgrades/upgrade-stores.ts'

/** The oldest one, and about how many statements bring it to this version. */
const OLDEST = 'sqlite-1.tgz'
const STATEMENTS = 90
/** Kills of a migration at least. */
const KILLS = IS_SHORT ? 6 : 12
const killed = join(import.meta.dirname, '../../../support/storage/upgrades/killed-migration.ts')

/** Migrates a database in a process that is killed before a statement, unless it has fewer. */
function migrate(data: string, statement: number) {
  const args = ['--disable-warning=ExperimentalWarning', killed, databaseFile(data)]
  return spawnSync(process.execPath, [...args, String(statement)], { stdio: 'inherit' })
}

describe('upgrades of data folders', () => {
  let schema: ReturnType<typeof sqliteSchema>
  before(async () => {
    const fresh = await startServer()
    schema = sqliteSchema(fresh.folder)
    await fresh.close()
  })

  for (const name of storeNames.filter((name) => name.startsWith('sqlite-'))) {
    test(name, { timeout: 300_000 }, async (t) => {
      const { data, expected } = await unpackStore(t, name)
      const server = await startUpgraded(t, expected, { STENO_DATA_DIR: data })
      await checkUpgraded(server, expected)
      assert.deepEqual(sqliteSchema(data), schema)
    })
  }

  test('a migration killed at any statement is resumed', async (t) => {
    const { data, expected } = await unpackStore(t, OLDEST)
    const step = Math.max(1, Math.floor(STATEMENTS / rounds(KILLS)))
    let kills = 0
    for (let statement = 0; migrate(data, statement).signal === 'SIGKILL'; statement += step) {
      kills++
    }
    assert.ok(kills >= KILLS, `${kills} kills`)
    await checkUpgraded(await startUpgraded(t, expected, { STENO_DATA_DIR: data }), expected)
  })

  test('there is a stored folder of every database version in the history', () => {
    const versions = new Set(storeNames.map((name) => Number(/^sqlite-(\d+)/.exec(name)?.[1])))
    // The second came with the third, and the 16th with the 17th.
    const missing = Array.from({ length: SQLITE_VERSION }, (_, i) => i + 1).filter((version) => {
      return version !== 2 && version !== 16 && !versions.has(version)
    })
    assert.deepEqual(missing, [], 'see docs/releasing.md')
  })
})

describe('upgrades of PostgreSQL databases', { skip: noPostgres }, () => {
  for (const name of storeNames.filter((name) => name.startsWith('postgres-'))) {
    test(name, { timeout: 300_000 }, async (t) => {
      const { folder, data, expected } = await unpackStore(t, name)
      const { url } = await createDatabase()
      const client = await connectClient(t, url)
      await loadDump(client, folder)
      const server = await startUpgraded(t, expected, {
        STENO_DATA_DIR: data,
        STENO_DATABASE_URL: url,
      })
      await checkUpgraded(server, expected)
      const fresh = await createDatabase()
      await (await openPostgres(fresh, { version: 'migrate' })).close()
      const expectedSchema = await postgresSchema(await connectClient(t, fresh.url))
      assert.ok(expectedSchema.length > 100)
      assert.deepEqual(await postgresSchema(await connectClient(t, url)), expectedSchema)
    })
  }

  test('there is a stored database of this version', () => {
    assert.ok(storeNames.includes(`postgres-${SQLITE_VERSION}.tgz`), 'see docs/releasing.md')
  })
})
