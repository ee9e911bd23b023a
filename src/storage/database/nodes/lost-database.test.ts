import assert from 'node:assert/strict'
import test from 'node:test'
import { openCutPostgres } from '../../../../test/support/storage/databases/cut-postgres.ts'
import {
  createDatabase,
  noPostgres,
} from '../../../../test/support/storage/databases/test-postgres.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { isDatabaseLost } from './lost-database.ts'

test('a database is lost when it stops responding, not before', { skip: noPostgres }, async (t) => {
  const settings = await createDatabase()
  const way = await openCutPostgres(settings.url)
  const database = await openPostgres({ ...settings, url: way.url }, { version: 'create' })
  t.after(async () => {
    await way.close()
    await database.close()
  })

  // The database responds after two thirds of the time each time, by a clock of the test.
  const clock = { ms: 0, responses: 0 }
  const now = t.mock.method(performance, 'now', () => clock.ms)
  const ends = new AbortController()
  const sql = database.sql.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      clock.ms += 40_000
      if (++clock.responses === 3) ends.abort()
      return result
    },
  })
  const responding = isDatabaseLost({ ...database, sql }, { signal: ends.signal, lostMs: 60_000 })
  assert.equal(await responding, false)
  assert.equal(clock.responses, 3)
  now.mock.restore()

  way.stall()
  const { signal } = new AbortController()
  assert.equal(await isDatabaseLost(database, { signal, lostMs: 300 }), true)
})
