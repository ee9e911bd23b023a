import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { createLink } from '../../../src/api/auth/sign-in.ts'
import { deleteKey, type Scope } from '../../../src/storage/accounts/keys.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { audioForm, call, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

type SignIn = { account: string; scopes: string[]; csrf_token: string; expires_at: string }

/** Sends a request without a key, as a browser does. */
async function browse(path: string, init: RequestInit & { json?: unknown } = {}) {
  const { json, ...rest } = init
  const headers = new Headers(init.headers)
  if (json !== undefined) headers.set('content-type', 'application/json')
  const body = json === undefined ? null : JSON.stringify(json)
  const response = await fetch(server.url + path, { ...rest, headers, body })
  const code = response.headers.get('x-error-code')
  const text = await response.text()
  return { status: response.status, code, text, headers: response.headers }
}

/** Signs a browser in; resolves to the headers of its requests, and of those that write. */
async function signIn(json: Record<string, unknown> = { key: server.key }) {
  const { status, headers, text } = await browse('/v2/sign-in', { method: 'POST', json })
  assert.equal(status, 200, text)
  const [setCookie] = headers.getSetCookie()
  const cookie = setCookie!.split(';', 1)[0]!
  const view = JSON.parse(text) as SignIn
  return {
    setCookie: setCookie!,
    view,
    reads: { cookie },
    writes: { cookie, 'x-csrf-token': view.csrf_token },
  }
}

const remove = (headers: Record<string, string>) =>
  browse('/v2/pre-recorded/00000000-0000-0000-0000-000000000000', { method: 'DELETE', headers })

test("a browser signs in with a key by an HttpOnly cookie and has the key's view", async () => {
  const { setCookie, view, reads } = await signIn()
  assert.match(
    setCookie,
    /^steno_sign_in=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
  )
  assert.deepEqual([view.account, view.scopes], ['test', ['read', 'write', 'live']])
  assert.ok(Date.parse(view.expires_at) > Date.now())
  const audio_url = await upload(server, createToneWav(1))
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
  assert.equal((await browse(`/v2/pre-recorded/${body.id}`, { headers: reads })).status, 200)
  const other = await signIn({ key: 'other-key' })
  assert.equal((await browse(`/v2/pre-recorded/${body.id}`, { headers: other.reads })).status, 404)
  const again = await browse('/v2/sign-in', { headers: reads })
  assert.deepEqual(JSON.parse(again.text), view)
  assert.equal(again.headers.get('cache-control'), 'no-store')
})

test('a signed-in browser has the scopes of its key', async () => {
  const scopes: Scope[] = ['read']
  const { key } = await generateKey(server.app.storage.db, { account: 'test', scopes })
  const { view, writes } = await signIn({ key })
  assert.deepEqual(view.scopes, scopes)
  assert.equal((await remove(writes)).code, 'scope_missing')
})

test('the cookie alone can read, and writing needs the CSRF token of its sign-in', async () => {
  const { reads, writes } = await signIn()
  assert.equal((await browse('/v2/live', { headers: reads })).status, 200)
  assert.equal((await remove(reads)).code, 'request_forged')
  const other = await signIn()
  const mixed = { ...reads, 'x-csrf-token': other.view.csrf_token }
  assert.equal((await remove(mixed)).code, 'request_forged')
  assert.equal((await remove(writes)).code, 'job_not_found')
})

test('an upload with only the cookie is rejected, as from a cross-site form', async () => {
  const { reads, writes } = await signIn()
  const send = async (headers: Record<string, string>) => {
    const body = audioForm(createToneWav(1))
    const response = await fetch(`${server.url}/v2/upload`, { method: 'POST', headers, body })
    await response.body?.cancel()
    return response.headers.get('x-error-code') ?? response.status
  }
  assert.equal(await send(reads), 'request_forged')
  assert.equal(await send(writes), 200)
})

test('responses that need a key are not cached or sniffed', async () => {
  for (const path of ['/v2/transcription', '/v2/usage', '/v2/search?q=a', '/v2/capabilities']) {
    const { headers } = await call(server, path)
    assert.equal(headers.get('cache-control'), 'no-store', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
  }
})

test('requests of other origins are rejected, including another port of the host', async () => {
  const { reads, writes } = await signIn()
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as unknown as Record<string, string>[]
  for (const headers of foreign) {
    assert.equal(
      (await browse('/v2/live', { headers: { ...reads, ...headers } })).code,
      'request_forged',
    )
    assert.equal((await remove({ ...writes, ...headers })).code, 'request_forged')
    const json = { key: server.key }
    const signedIn = await browse('/v2/sign-in', { method: 'POST', json, headers })
    assert.equal(signedIn.code, 'request_forged')
  }
  const sameOrigin = { origin: server.url, 'sec-fetch-site': 'same-origin' }
  assert.equal((await remove({ ...writes, ...sameOrigin })).code, 'job_not_found')
})

test("signing out ends the cookie, and 'everywhere' those of all browsers", async () => {
  const [first, second, third] = [
    await signIn(),
    await signIn(),
    await signIn({ key: 'other-key' }),
  ]
  const unmarked = await browse('/v2/sign-in', { method: 'DELETE', headers: first.reads })
  assert.equal(unmarked.code, 'request_forged')
  const out = await browse('/v2/sign-in', { method: 'DELETE', headers: first.writes })
  assert.equal(out.status, 204)
  assert.match(out.headers.getSetCookie()[0]!, /^steno_sign_in=; Path=\/; Max-Age=0;/)
  assert.equal((await browse('/v2/live', { headers: first.reads })).code, 'sign_in_ended')
  const everywhere = '/v2/sign-in?everywhere=true'
  const fourth = await signIn()
  assert.equal((await browse(everywhere, { method: 'DELETE', headers: second.writes })).status, 204)
  assert.equal((await browse('/v2/live', { headers: fourth.reads })).code, 'sign_in_ended')
  assert.equal((await browse('/v2/live', { headers: third.reads })).status, 200)
})

test('expired or forged cookies, and those of revoked keys, are rejected', async () => {
  const forged = { cookie: `steno_sign_in=${'A'.repeat(43)}` }
  assert.equal((await browse('/v2/live', { headers: forged })).code, 'sign_in_ended')
  const { reads } = await signIn()
  const hash = createHash('sha256').update(reads.cookie.split('=')[1]!).digest('hex')
  const { db } = server.app.storage
  const due = db.sql.updateTable('sign_ins').set({ expires_at: Date.now() - 1 })
  const { numUpdatedRows } = await due.where('hash', '=', hash).executeTakeFirst()
  assert.equal(numUpdatedRows, 1n)
  assert.equal((await browse('/v2/live', { headers: reads })).code, 'sign_in_ended')
  const { key, id } = await generateKey(db, { account: 'test' })
  const browser = await signIn({ key })
  await deleteKey(db, id)
  assert.equal((await browse('/v2/live', { headers: browser.reads })).code, 'key_unknown')
})

test('a sign-in link works once; wrong keys and bodies are rejected', async () => {
  const link = await createLink(server.app.storage, server.key)
  assert.equal((await signIn({ link })).view.account, 'test')
  const attempt = (json: unknown) => browse('/v2/sign-in', { method: 'POST', json })
  assert.equal((await attempt({ link })).code, 'sign_in_ended')
  assert.equal((await attempt({ key: 'wrong' })).code, 'key_unknown')
  assert.equal((await attempt({ key: 'wrong', link: null })).code, 'key_unknown')
  assert.equal((await attempt({})).code, 'request_invalid')
  assert.equal((await attempt({ key: 1 })).code, 'request_invalid')
  // The cookie of a browser is no link, nor is a link a cookie.
  const { reads } = await signIn()
  assert.equal((await attempt({ link: reads.cookie.split('=')[1] })).code, 'sign_in_ended')
  const cookie = `steno_sign_in=${await createLink(server.app.storage, server.key)}`
  assert.equal((await browse('/v2/live', { headers: { cookie } })).code, 'sign_in_ended')
})

test('a key in a header takes precedence over a cookie and needs no CSRF token', async () => {
  const headers = { cookie: 'steno_sign_in=x', 'x-service-key': server.key }
  assert.equal((await remove(headers)).code, 'job_not_found')
})

test('behind TLS with a path the cookie is Secure and limited to the path', async (t) => {
  const env = { STENO_PUBLIC_BASE_URL: 'https://speech.example/steno' }
  const proxied = await startServer({ env })
  t.after(() => proxied.close())
  const response = await fetch(`${proxied.url}/v2/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://speech.example' },
    body: JSON.stringify({ key: proxied.key }),
  })
  assert.match(response.headers.getSetCookie()[0]!, /; Path=\/steno; .*; SameSite=Strict; Secure$/)
  await response.body?.cancel()
})
