/** Keys that are made and revoked over HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import type { ApiCreatedKey, ApiKeyList } from '../../../src/cli/client/api-types.ts'
import type { Scope } from '../../../src/storage/accounts/keys.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const DAY_S = 86_400

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

/** Makes a key by hand; resolves to the server as that key reaches it, and its id. */
async function as(account: string, scopes: readonly Scope[], expiresAt: number | null = null) {
  const { key, id } = await generateKey(server.app.storage.db, { account, scopes, expiresAt })
  return { url: server.url, key, id }
}

type Caller = Awaited<ReturnType<typeof as>>

function make(by: Caller, json: object) {
  return call<ApiCreatedKey & ErrorBody>(by, '/v2/keys', { json })
}

async function codeOf(response: Promise<{ status: number; headers: Headers }>) {
  const { status, headers } = await response
  return [status, headers.get('x-error-code')]
}

test('the API creates, shows once, lists and revokes a key, with an audit log', async () => {
  const owner = await as('ann', ['read', 'write', 'keys'])
  const wanted = { name: 'Büro 2', scopes: ['write', 'read'], expires_in_s: DAY_S }
  const { status, body, headers } = await make(owner, wanted)
  assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
  const { key, ...view } = body
  assert.deepEqual(view, {
    id: key.slice(0, 14),
    account: 'ann',
    name: 'Büro 2',
    scopes: ['read', 'write'],
    created_at: view.created_at,
    expires_at: view.expires_at,
    last_used_at: null,
    is_own: false,
  })
  const lasts = Date.parse(view.expires_at!) - Date.parse(view.created_at)
  assert.ok(Math.abs(lasts - DAY_S * 1000) < 5000, String(lasts))
  const made = { url: server.url, key }
  assert.equal((await call(made, '/v2/pre-recorded')).status, 200)
  assert.deepEqual(await codeOf(call(made, '/v2/keys')), [403, 'scope_missing'])

  const { items } = (await call<ApiKeyList>(owner, '/v2/keys')).body
  assert.deepEqual(
    items.map(({ id, is_own }) => [id, is_own]),
    [
      [owner.id, true],
      [view.id, false],
    ],
  )
  assert.ok(!JSON.stringify(items).includes(key))
  const one = `/v2/keys/${view.id}`
  assert.equal((await call(owner, one, { method: 'DELETE' })).status, 204)
  assert.deepEqual(await codeOf(call(made, '/v2/pre-recorded')), [401, 'key_unknown'])
  assert.deepEqual(await codeOf(call(owner, one, { method: 'DELETE' })), [404, 'key_not_found'])

  const admin = await as('root', ['admin'])
  const audit = await call<{ items: Record<string, unknown>[] }>(
    admin,
    `/v2/audit?subject=${view.id}`,
  )
  assert.deepEqual(
    audit.body.items.map(({ action, source, key, account }) => [action, source, key, account]),
    [
      ['key.revoked', 'api', owner.id, 'ann'],
      ['key.created', 'api', owner.id, 'ann'],
    ],
  )
  assert.ok(!JSON.stringify(audit.body).includes(key))
})

test('a key cannot create keys of other accounts, more scopes or a longer life', async () => {
  const ends = Date.now() + 10 * DAY_S * 1000
  const owner = await as('bob', ['read', 'keys'], ends)
  const refused = [403, 'key_refused']
  const short = { scopes: ['read'], expires_in_s: DAY_S }
  assert.deepEqual(await codeOf(make(owner, { ...short, account: 'ann' })), refused)
  assert.deepEqual(await codeOf(make(owner, { ...short, scopes: ['read', 'write'] })), refused)
  assert.deepEqual(await codeOf(make(owner, { ...short, scopes: ['admin'] })), refused)
  assert.deepEqual(await codeOf(make(owner, { scopes: ['read'] })), refused)
  const long = { ...short, expires_in_s: 11 * DAY_S }
  assert.deepEqual(await codeOf(make(owner, long)), refused)
  assert.equal((await make(owner, { ...short, account: 'bob' })).status, 201)

  const stronger = await as('bob', ['read', 'admin'])
  const foreign = await as('ann', ['read'])
  const revoke = (by: Caller, id: string) => call(by, `/v2/keys/${id}`, { method: 'DELETE' })
  assert.deepEqual(await codeOf(revoke(owner, stronger.id)), refused)
  assert.deepEqual(await codeOf(revoke(owner, foreign.id)), [404, 'key_not_found'])
  const { items } = (await call<ApiKeyList>(owner, '/v2/keys')).body
  assert.ok(items.every(({ account }) => account === 'bob'))

  const all = (await call<ApiKeyList>(stronger, '/v2/keys')).body.items
  assert.ok(all.some(({ id }) => id === foreign.id))
  assert.equal((await make(stronger, { account: 'eve', scopes: ['admin'] })).status, 201)
  assert.equal((await revoke(stronger, foreign.id)).status, 204)
})

test('control characters in a name and unknown scopes are rejected for a key', async () => {
  const owner = await as('dan', ['read', 'keys'])
  const bad = ['', ' a', 'a ', 'a\u001b[2J', 'a\u202eb', 'x'.repeat(101)]
  for (const name of bad) assert.equal((await make(owner, { name })).status, 400, name)
  for (const scopes of [[], ['root'], 'read', ['read', 'read', 'read', 'read', 'read', 'read']]) {
    assert.equal((await make(owner, { scopes })).status, 400, JSON.stringify(scopes))
  }
  const settings = { url: server.url, key: server.key }
  assert.deepEqual(await codeOf(call(settings, '/v2/keys')), [403, 'scope_missing'])
})
