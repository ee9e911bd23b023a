import assert from 'node:assert/strict'
import test from 'node:test'
import { hideSecrets } from './hide-secrets.ts'

test('values of headers that hold secrets are hidden, all others are shown', () => {
  const secret = [
    'authorization',
    'proxy-authorization',
    'set-cookie',
    'Cookie',
    'www-authenticate',
    'webhook-signature',
    'x-own-signature',
    'x-auth-token',
    'x-api-key',
    'x-amz-security-token',
  ]
  const shown = ['content-type', 'webhook-id', 'webhook-timestamp', 'retry-after', 'server', 'date']
  const headers = Object.fromEntries([...secret, ...shown].map((name) => [name, 'value']))
  const hidden = hideSecrets(headers)
  for (const name of secret) assert.equal(hidden[name], '[hidden]', name)
  for (const name of shown) assert.equal(hidden[name], 'value', name)
})
