import assert from 'node:assert/strict'
import test from 'node:test'
import { hideIn, hideSecrets } from './hide-secrets.ts'

test('header values with secrets are hidden, all others are shown', () => {
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
    ...['x-credentials', 'x-auth', 'x-jwt', 'x-csrf', 'x-xsrf', 'x-key', 'x-session-id'],
  ]
  const shown = ['content-type', 'webhook-id', 'webhook-timestamp', 'retry-after', 'server', 'date']
  const headers = Object.fromEntries([...secret, ...shown].map((name) => [name, 'value']))
  const hidden = hideSecrets(headers)
  for (const name of secret) assert.equal(hidden[name], '[hidden]', name)
  for (const name of shown) assert.equal(hidden[name], 'value', name)
})

test('secrets that were sent are hidden in responses, also when encoded', () => {
  const secrets = ['Ab/cd+ef', 'pass"word', 'me']
  const received = '{"a":"Ab/cd+ef","b":"Ab\\/cd+ef","c":"Ab%2Fcd%2Bef","d":"pass\\"word","e":"me"}'
  const hidden = ['a', 'b', 'c', 'd'].map((name) => `"${name}":"[hidden]"`)
  assert.equal(hideIn(received, secrets), `{${hidden},"e":"me"}`)
  assert.deepEqual(hideSecrets({ 'x-echo': 'Basic Ab/cd+ef' }, secrets), {
    'x-echo': 'Basic [hidden]',
  })
})

test('a secret truncated at the end of the text is hidden', () => {
  assert.equal(hideIn('you sent sesame-op', ['sesame-open']), 'you sent [hidden]')
  assert.equal(hideIn('you sent ses', ['sesame-open']), 'you sent ses')
})
