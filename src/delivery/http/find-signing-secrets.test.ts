import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { addSecret, generateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { findSigningSecrets } from './find-signing-secrets.ts'

test('a configured secret is used for an account without a stored one', async (t) => {
  const { db } = await openTestStorage(t)
  const [endpointSecret, first, second, other] = [
    generateSecret(),
    generateSecret(),
    generateSecret(),
    generateSecret(),
  ]
  const secrets = [
    { account: 'acme', secret: first },
    { account: 'other', secret: other },
    { account: 'acme', secret: second },
  ]
  const use = { account: 'acme', endpointId: 'ep_1', now: 5 }
  assert.deepEqual(await findSigningSecrets(db, { secrets }, use), [first, second])
  assert.deepEqual(await findSigningSecrets(db, { secrets }, { ...use, account: 'third' }), [])
  await addSecret(db, { account: 'acme', endpointId: null, secret: endpointSecret, at: 1 })
  assert.deepEqual(await findSigningSecrets(db, { secrets }, use), [endpointSecret])
})
