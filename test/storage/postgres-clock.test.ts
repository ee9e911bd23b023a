import assert from 'node:assert/strict'
import test from 'node:test'
import { followClock, wallNow } from '../../src/clock.ts'
import { noPostgres, openTestPostgres } from '../support/storage/databases/test-postgres.ts'

test('with a shared database the server follows the database clock', {
  skip: noPostgres,
}, async (t) => {
  const now = Date.now()
  t.mock.timers.enable({ apis: ['Date'], now: now + 3_600_000 })
  t.after(() => followClock(async () => Date.now()))
  await openTestPostgres(t)
  assert.ok(Math.abs(wallNow() - now) < 30_000)
})
