import assert from 'node:assert/strict'
import test from 'node:test'
import { sentSecrets } from './sent-secrets.ts'

test('credentials and signatures of a request are secrets', () => {
  const url = new URL('https://me:s%C3%A9same@a.example/')
  const headers = {
    authorization: 'Basic bWU6c8Opc2FtZQ==',
    'webhook-id': 'one',
    'webhook-signature': 'v1,AbC= v1,DeF/',
  }
  const secrets = ['bWU6c8Opc2FtZQ', 'AbC', 'DeF/', 'me', 's%C3%A9same', 'sésame']
  assert.deepEqual(sentSecrets(url, headers), secrets)
})

test('a request without credentials has no secrets', () => {
  assert.deepEqual(sentSecrets(new URL('https://a.example/'), { 'webhook-id': 'one' }), [])
  assert.deepEqual(sentSecrets(null, {}), [])
})
