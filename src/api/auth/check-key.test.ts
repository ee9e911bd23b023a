import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { readConfig } from '../../config/config.ts'
import { findKeyByHash, insertKey, type NewKey } from '../../storage/accounts/keys.ts'
import { createAuthenticate, createFindKey, sha256 } from './check-key.ts'

const HASH = sha256('stored').toString('hex')
const START = 1_000_000
/** A write takes milliseconds; one that is not there after this long will not happen. */
const TIMEOUT_MS = 10_000

/**
 * Opens a store with one key, a clock that stands still until it is set, and functions to query
 * both.
 */
async function startAuth(t: TestContext, key: Partial<NewKey> = {}) {
  const storage = await openTestStorage(t)
  const { db, folder } = storage
  await insertKey(db, { hash: HASH, account: 'acme', prefix: 'st', createdAt: 1, ...key })
  const sqlite = new DatabaseSync(join(folder, 'steno.sqlite'))
  t.after(() => sqlite.close())
  const clock = { ms: START }
  const config = readConfig({ STENO_API_KEYS: 'me:configured' })
  const line = Promise.withResolvers<string>()
  const log = pino({ level: 'warn' }, { write: line.resolve })
  const create = () => {
    const findKey = createFindKey({ config, storage, log }, () => clock.ms)
    return createAuthenticate({ config, findKey })
  }
  let authenticate = create()
  const lastUsed = async () => (await findKeyByHash(db, HASH))?.lastUsedAt

  return {
    clock,
    sqlite,
    lastUsed,
    logged: line.promise,
    use: (given = 'stored') => authenticate({ 'x-service-key': given }),
    restart() {
      authenticate = create()
    },
    /** Waits until a use is recorded. */
    async untilNoted(at: number): Promise<void> {
      const limit = performance.now() + TIMEOUT_MS
      while ((await lastUsed()) !== at) {
        assert.ok(performance.now() < limit, `not noted: ${at}`)
        await setImmediate()
      }
    },
  }
}

test('a configured key has all scopes and a stored key has its stored scopes', async (t) => {
  const { use } = await startAuth(t, { scopes: ['read'] })
  const all = ['read', 'write', 'live']
  const hash = sha256('configured').toString('hex')
  assert.deepEqual(await use('configured'), { hash, account: 'me', scopes: all })
  const { account, scopes } = await use()
  assert.deepEqual([account, scopes], ['acme', ['read']])
})

test('a key is accepted until it expires and rejected from that moment on', async (t) => {
  const { clock, use, untilNoted, lastUsed } = await startAuth(t, { expiresAt: START + 90_000 })
  clock.ms = START + 89_999
  await use()
  await untilNoted(START + 89_999)
  clock.ms = START + 90_000
  const message = 'Cannot accept an expired key: it ended at 1970-01-01T00:18:10.000Z'
  await assert.rejects(use(), { code: 'key_expired', message })
  clock.ms = START + 900_000
  await assert.rejects(use(), { code: 'key_expired' })
  assert.equal(await lastUsed(), START + 89_999, 'a refused use is none')
})

test('the last use of a key is written at most once a minute', async (t) => {
  const { clock, sqlite, use, untilNoted, restart } = await startAuth(t)
  sqlite.exec('create table notes (at bigint)')
  sqlite.exec(`create trigger note after update on keys
    begin insert into notes values (new.last_used_at); end`)
  await Promise.all([use(), use(), use()])
  await untilNoted(START)
  clock.ms = START + 59_999
  await use()
  restart()
  await use()
  clock.ms = START + 60_000
  await use()
  await untilNoted(START + 60_000)
  const notes = sqlite.prepare('select at from notes').all()
  assert.deepEqual(
    notes.map(({ at }) => at),
    [START, START + 60_000],
  )
})

test('authentication does not wait until the last use of the key is written', async (t) => {
  const { sqlite, use, lastUsed, untilNoted } = await startAuth(t)
  sqlite.exec('begin immediate')
  await use()
  assert.equal(await lastUsed(), null)
  sqlite.exec('rollback')
  await untilNoted(START)
})

test('failing to record a use of a key is logged without it and fails no request', async (t) => {
  const { sqlite, use, logged } = await startAuth(t)
  sqlite.exec(`create trigger full before update on keys begin select raise(abort, 'full'); end`)
  assert.equal((await use()).account, 'acme')
  const line = await logged
  assert.match(line, /cannot record the use of a key/)
  assert.ok(!line.includes('stored') && !line.includes(HASH), line)
})
