import assert from 'node:assert/strict'
import test from 'node:test'
import { runSteno } from '../../../../test/support/cli/run-steno.ts'
import { readConfig } from '../../../config/config.ts'
import { checkSettings } from './checks.ts'
import { findExposures } from './exposure.ts'

const STRONG = '3f9c1b7e5a2d8046c7e1f0b9'

function exposures(env: Record<string, string>): string[] {
  return findExposures(readConfig(env)).map(({ text }) => text)
}

test('a guessable key is reported by its account, without the key', () => {
  assert.deepEqual(exposures({ STENO_API_KEYS: `acme:${STRONG}` }), [])
  for (const key of ['a', 'shortish-key-15', 'ab'.repeat(20)]) {
    const [text, ...others] = exposures({ STENO_API_KEYS: `b:${STRONG},acme:${key}` })
    assert.match(text!, /^key 2 of STENO_API_KEYS, of the account acme, /)
    assert.ok(others.length === 0 && (key === 'a' || !text!.includes(key)))
  }
  const account = 'a-long-account-name-1'
  assert.match(
    exposures({ STENO_API_KEYS: `${account}:${account}` })[0]!,
    /is the name of the account$/,
  )
})

test('a public address without TLS is reported, one behind TLS is not', () => {
  assert.match(exposures({ STENO_HOST: '0.0.0.0' })[0]!, /keys are sent unencrypted$/)
  assert.equal(exposures({ STENO_HOST: '::' }).length, 1)
  const plain = { STENO_HOST: '192.0.2.1', STENO_PUBLIC_BASE_URL: 'http://a.example' }
  assert.equal(exposures(plain).length, 1)
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) {
    assert.deepEqual(exposures({ STENO_HOST: host }), [])
  }
  const https = { STENO_HOST: '0.0.0.0', STENO_PUBLIC_BASE_URL: 'https://a.example' }
  assert.deepEqual(exposures(https), [])
  assert.deepEqual(exposures({ STENO_HOST: '0.0.0.0', STENO_TRUST_PROXY: 'true' }), [])
})

test('doctor warns of guessable keys and exposed addresses', () => {
  const findings = checkSettings({ STENO_HOST: '0.0.0.0', STENO_API_KEYS: 'acme:a' })
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['warn', 'warn'],
  )
})

test('a start warns in the log without showing the key', async () => {
  const env = { STENO_API_KEYS: 'acme:hunter2', STENO_MODELS_DIR: '/nowhere' }
  const { code, stderr } = await runSteno(['serve'], { env })
  assert.equal(code, 1)
  const { msg, level, text } = JSON.parse(/^\{.*$/m.exec(stderr)![0])
  assert.deepEqual([msg, level], ['this server is exposed', 40])
  assert.match(text, /of the account acme, has fewer than 16 characters$/)
  assert.ok(!stderr.includes('hunter2'))
})
