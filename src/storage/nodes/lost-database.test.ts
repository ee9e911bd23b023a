import assert from 'node:assert/strict'
import test from 'node:test'
import { openCutPostgres } from '../../../test/support/storage/databases/cut-postgres.ts'
import {
  createDatabase,
  noPostgres,
} from '../../../test/support/storage/databases/test-postgres.ts'
import { openPostgres } from '../database/postgres/postgres.ts'
import { isDatabaseLost } from './lost-database.ts'

test('a database is lost when it stops responding, not before', { skip: noPostgres }, async (t) => {
  const settings = await createDatabase()
  const way = await openCutPostgres(settings.url)
  const database = await openPostgres({ ...settings, url: way.url }, { version: 'create' })
  t.after(async () => {
    await way.close()
    await database.close()
  })
  const lostMs = 300
  const watched = isDatabaseLost(database, { signal: AbortSignal.timeout(3 * lostMs), lostMs })
  assert.equal(await watched, false)
  const { signal } = new AbortController()
  way.stall()
  assert.equal(await isDatabaseLost(database, { signal, lostMs }), true)
})
