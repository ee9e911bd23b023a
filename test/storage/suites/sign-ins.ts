import assert from 'node:assert/strict'
import {
  consumeLink,
  countSignIns,
  deleteSignIn,
  deleteSignInsOfKey,
  findSignIn,
  insertSignIn,
} from '../../../src/storage/accounts/sign-ins.ts'
import { createSuite } from './suite.ts'

/** Browsers that are signed in, and links. */
export const signInTests = createSuite()
const { test } = signInTests

const browser = { hash: 'a', kind: 'browser', keyHash: 'key', expiresAt: 100 } as const

test('a sign-in is found until it expires or is ended, alone or with its key', async ({ db }) => {
  await insertSignIn(db, browser, { now: 1 })
  assert.deepEqual(await findSignIn(db, 'a', { now: 99 }), browser)
  assert.equal(await findSignIn(db, 'a', { now: 100 }), undefined)
  assert.equal(await findSignIn(db, 'b', { now: 1 }), undefined)
  await insertSignIn(db, { ...browser, hash: 'b' }, { now: 1 })
  await insertSignIn(db, { ...browser, hash: 'c', keyHash: 'other' }, { now: 1 })
  await deleteSignIn(db, 'a')
  assert.equal(await findSignIn(db, 'a', { now: 1 }), undefined)
  await deleteSignInsOfKey(db, 'key')
  assert.equal(await findSignIn(db, 'b', { now: 1 }), undefined)
  assert.ok(await findSignIn(db, 'c', { now: 1 }))
})

test('a sign-in link is used once and not after its expiry', async ({ db }) => {
  const link = { ...browser, kind: 'link' } as const
  await insertSignIn(db, link, { now: 1 })
  assert.equal(await findSignIn(db, 'a', { now: 1 }), undefined)
  const taken = await Promise.all([1, 2].map(() => consumeLink(db, 'a', { now: 1 })))
  assert.deepEqual(taken.sort(), ['key', undefined])
  await insertSignIn(db, { ...link, hash: 'late' }, { now: 1 })
  assert.equal(await consumeLink(db, 'late', { now: 100 }), undefined)
})

test('client secrets are found and counted separately until they expire', async ({ db }) => {
  const secret = { ...browser, kind: 'client' } as const
  const counted = { keyHash: 'key', kind: 'client' } as const
  await insertSignIn(db, secret, { now: 1 })
  await insertSignIn(db, { ...browser, hash: 'b' }, { now: 1 })
  await insertSignIn(db, { ...secret, hash: 'c', keyHash: 'other' }, { now: 1 })
  assert.equal(await findSignIn(db, 'a', { now: 1 }), undefined)
  assert.deepEqual(await findSignIn(db, 'a', { now: 1, kind: 'client' }), secret)
  assert.equal(await countSignIns(db, counted, { now: 99 }), 1)
  assert.equal(await countSignIns(db, counted, { now: 100 }), 0)
})
