import assert from 'node:assert/strict'
import test from 'node:test'
import { type Scope, scopes } from '../../storage/accounts/keys.ts'
import { requireScope } from './scopes.ts'

const needed: [method: string, route: string, scope: Scope][] = [
  ['GET', '/v2/pre-recorded', 'read'],
  ['HEAD', '/file/:id', 'read'],
  ['GET', '/v2/live/:id/file', 'read'],
  ['POST', '/v2/upload', 'write'],
  ['POST', '/v2/pre-recorded', 'write'],
  ['DELETE', '/v2/pre-recorded/:id', 'write'],
  ['DELETE', '/v2/transcription/:id', 'write'],
  ['POST', '/v2/lively', 'write'],
  ['GET', '/v2/deliveries', 'read'],
  ['POST', '/v2/deliveries/:id/resend', 'write'],
  ['POST', '/v2/endpoints/:id/disable', 'write'],
  ['POST', '/v2/endpoints/:id/test', 'write'],
  ['DELETE', '/v2/endpoints/:id', 'write'],
  ['POST', '/v2/live', 'live'],
  ['GET', '/v2/nodes', 'admin'],
  ['GET', '/v2/load', 'admin'],
  ['GET', '/v2/models', 'admin'],
  ['POST', '/v2/models/:name/pull', 'admin'],
  ['DELETE', '/v2/models/:name', 'admin'],
  ['GET', '/v2/audit', 'admin'],
  ['PATCH', '/v2/live/:id', 'live'],
  ['DELETE', '/v2/live/:id', 'live'],
  ['PATCH', '/v2/live/:id/transcript/edits', 'write'],
  ['DELETE', '/v2/live/:id/shares/:share', 'write'],
]

test('the /v2/keys routes require the scope keys or admin', () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const request = { method, route: method === 'DELETE' ? '/v2/keys/:id' : '/v2/keys' }
    for (const one of ['keys', 'admin'] as const) requireScope([one], request)
    assert.throws(() => requireScope(['read', 'write', 'live'], request), {
      code: 'scope_missing',
    })
  }
})

for (const [method, route, scope] of needed) {
  test(`${method} ${route} requires the scope ${scope} and no other`, () => {
    requireScope([scope], { method, route })
    const others = scopes.filter((one) => one !== scope)
    const message = `Cannot do this with the key: its scopes are ${others.join(', ')}; ${scope} is needed`
    assert.throws(() => requireScope(others, { method, route }), { code: 'scope_missing', message })
  })
}

for (const route of [
  '/v2/endpoints',
  '/v2/pre-recorded/:id/share',
  '/v2/live/:id/share',
  '/v2/pre-recorded/:id/addons/:name/retry',
]) {
  test(`POST ${route}, which reveals a job, requires the scopes read and write`, () => {
    requireScope(['read', 'write'], { method: 'POST', route })
    for (const missing of ['read', 'write'] as const) {
      const others = scopes.filter((scope) => scope !== missing)
      const message = `Cannot do this with the key: its scopes are ${others.join(', ')}; ${missing} is needed`
      assert.throws(() => requireScope(others, { method: 'POST', route }), {
        code: 'scope_missing',
        message,
      })
    }
  })
}
