import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { addSecret, generateSecret, rotateSecret, signingSecrets } from './signing-secrets.ts'

const HOUR = 3_600_000

/**
 * Opens the secrets of the account `acme`. `rotate` and `add` name an endpoint, or none for the
 * account's own.
 */
async function open(t: TestContext) {
  const { db } = await openTestStorage(t)
  const account = 'acme'
  return {
    db,
    add: (secret: string, endpointId: string | null) => {
      return addSecret(db, { account, endpointId, secret, at: 0 })
    },
    rotate: (
      secret: string,
      endpointId: string | null,
      options: { at: number; overlapMs: number; configured?: string[] },
    ) => rotateSecret(db, { account, endpointId, secret, configured: [], ...options }),
    valid: (endpointId: string, now: number) => signingSecrets(db, { account, endpointId, now }),
    stored: async () => {
      const rows = await db.sql.selectFrom('signing_secrets').select('secret').execute()
      return rows.map(({ secret }) => secret).sort()
    },
  }
}

test('a secret has the Standard Webhooks format and 256 random bits', () => {
  const [one, other] = [generateSecret(), generateSecret()]
  assert.match(one, /^whsec_[A-Za-z\d+/]{43}=$/)
  assert.notEqual(one, other)
})

test('an endpoint signs with its own secret, else that of its account, else none', async (t) => {
  const { db, add, valid } = await open(t)
  assert.deepEqual(await valid('ep_1', 9), [])
  await add('shared', null)
  await add('own', 'ep_1')
  await addSecret(db, { account: 'other', endpointId: null, secret: 'foreign', at: 0 })
  assert.deepEqual(await valid('ep_1', 9), ['own'])
  assert.deepEqual(await valid('ep_2', 9), ['shared'])
})

test('rotation keeps earlier secrets for the overlap, newest first', async (t) => {
  const { add, rotate, valid } = await open(t)
  await add('first', 'ep_1')
  await rotate('second', 'ep_1', { at: HOUR, overlapMs: 24 * HOUR })
  await rotate('third', 'ep_1', { at: 2 * HOUR, overlapMs: 24 * HOUR })
  assert.deepEqual(await valid('ep_1', 25 * HOUR - 1), ['third', 'second', 'first'])
  assert.deepEqual(await valid('ep_1', 25 * HOUR), ['third', 'second'])
  assert.deepEqual(await valid('ep_1', 26 * HOUR), ['third'])
})

test('a shorter overlap expires all earlier secrets sooner, 0 at once', async (t) => {
  const { add, rotate, valid, stored } = await open(t)
  await add('first', 'ep_1')
  await rotate('second', 'ep_1', { at: HOUR, overlapMs: 24 * HOUR })
  await rotate('third', 'ep_1', { at: 2 * HOUR, overlapMs: HOUR })
  assert.deepEqual(await valid('ep_1', 3 * HOUR - 1), ['third', 'second', 'first'])
  assert.deepEqual(await valid('ep_1', 3 * HOUR), ['third'])
  await rotate('fourth', 'ep_1', { at: 2 * HOUR, overlapMs: 0 })
  assert.deepEqual(await stored(), ['fourth'])
})

test('rotation deletes expired secrets of the same endpoint only', async (t) => {
  const { add, rotate, valid, stored } = await open(t)
  await add('first', 'ep_1')
  await add('neighbor', 'ep_2')
  await add('shared', null)
  await rotate('second', 'ep_1', { at: 0, overlapMs: HOUR })
  await rotate('third', 'ep_1', { at: HOUR, overlapMs: HOUR })
  assert.deepEqual(await stored(), ['neighbor', 'second', 'shared', 'third'])
  assert.deepEqual(await valid('ep_2', 9 * HOUR), ['neighbor'])
  await rotate('shared 2', null, { at: HOUR, overlapMs: HOUR })
  assert.deepEqual(await valid('ep_3', HOUR), ['shared 2', 'shared'])
  assert.deepEqual(await valid('ep_2', 9 * HOUR), ['neighbor'])
})

test('rotation keeps the secrets of other accounts', async (t) => {
  const { db, rotate, valid } = await open(t)
  const other = { account: 'other', endpointId: null }
  await addSecret(db, { ...other, secret: 'first', at: 0 })
  await rotateSecret(db, { ...other, secret: 'next', at: 0, overlapMs: HOUR, configured: [] })
  await rotate('own', null, { at: 2 * HOUR, overlapMs: 0 })
  assert.deepEqual(await valid('ep_1', 2 * HOUR), ['own'])
  const rows = await db.sql
    .selectFrom('signing_secrets')
    .select(['secret', 'expires_at'])
    .where('account', '=', 'other')
    .orderBy('secret')
    .execute()
  assert.deepEqual(
    rows.map(({ secret, expires_at }) => [secret, expires_at]),
    [
      ['first', HOUR],
      ['next', null],
    ],
  )
})

test("the account's secret stays valid beside a new endpoint secret for the overlap", async (t) => {
  const { add, rotate, valid } = await open(t)
  await add('shared', null)
  await rotate('own', 'ep_1', { at: 0, overlapMs: HOUR, configured: ['set'] })
  assert.deepEqual(await valid('ep_1', HOUR - 1), ['own', 'shared'])
  assert.deepEqual(await valid('ep_1', HOUR), ['own'])
  assert.deepEqual(await valid('ep_2', HOUR), ['shared'])
})

test('a configured secret stays valid for one overlap', async (t) => {
  const { rotate, valid } = await open(t)
  await rotate('new', null, { at: 0, overlapMs: HOUR, configured: ['set'] })
  assert.deepEqual(await valid('ep_1', HOUR - 1), ['new', 'set'])
  await rotate('newer', null, { at: HOUR, overlapMs: HOUR, configured: ['set'] })
  assert.deepEqual(await valid('ep_1', HOUR), ['newer', 'new'])
})
