import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer

before(async () => {
  server = await startServer()
})
after(() => server.close())

function attributes(html: string, name: string): string[] {
  const found = [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))]
  return found.map(([, value]) => value!.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

test('the reference page is served without a key and has no external links', async () => {
  for (const path of ['/docs', '/docs/']) {
    const headers = { 'x-service-key': 'unknown' }
    const { status, body } = await call<string>(server, path, { headers })
    assert.equal(status, 200)
    assert.deepEqual(attributes(body, 'src'), ['/docs/scalar.js'])
    assert.deepEqual(attributes(body, 'href'), ['data:,', '/openapi.json'])
    assert.ok(!/https?:/.test(body))
  }
})

test('the reference viewer sends no telemetry', async () => {
  const { body } = await call<string>(server, '/docs')
  const options = JSON.parse(attributes(body, 'data-configuration')[0]!)
  assert.deepEqual(
    [options.url, options.withDefaultFonts, options.telemetry, options.hideClientButton],
    ['/openapi.json', false, false, true],
  )
  assert.deepEqual([options.agent, options.mcp], [{ disabled: true }, { disabled: true }])
  assert.ok(!('proxyUrl' in options))
})

test('the content security policy of the page allows no external or inline scripts', async () => {
  const { headers } = await call<string>(server, '/docs')
  const policy = headers.get('content-security-policy') ?? ''
  const [cached, referrer, sniff] = ['cache-control', 'referrer-policy', 'x-content-type-options']
  assert.deepEqual(
    [headers.get(cached!), headers.get(referrer!), headers.get(sniff!)],
    ['no-cache', 'no-referrer', 'nosniff'],
  )
  assert.match(policy, /^default-src 'none'; script-src 'self';/)
  assert.match(policy, /; connect-src 'self';/)
  assert.match(policy, /; frame-ancestors 'none'$/)
  assert.ok(!/\*|https?:|unsafe-eval/.test(policy))
})

test('the script of the page is compressed on request and revalidated', async () => {
  const plain = await call<string>(server, '/docs/scalar.js', {
    headers: { 'accept-encoding': 'identity' },
  })
  assert.equal(plain.headers.get('content-encoding'), null)
  const packed = await call<string>(server, '/docs/scalar.js')
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.ok(plain.body === packed.body && plain.body.includes('data-configuration'))
  assert.match(packed.headers.get('cache-control') ?? '', /^public, max-age=\d{5}$/)
  assert.equal(packed.headers.get('vary'), 'accept-encoding')
  const tag = packed.headers.get('etag') ?? ''
  const again = await call(server, '/docs/scalar.js', { headers: { 'if-none-match': tag } })
  assert.equal(again.status, 304)
})

test('the path of the public base URL is kept, and its origin allowed', async (t) => {
  const env = { STENO_PUBLIC_BASE_URL: 'https://stt.example.test/speech' }
  const prefixed = await startServer({ env })
  t.after(() => prefixed.close())
  const { body, headers } = await call<string>(prefixed, '/docs')
  assert.deepEqual(attributes(body, 'src'), ['/speech/docs/scalar.js'])
  assert.equal(JSON.parse(attributes(body, 'data-configuration')[0]!).url, '/speech/openapi.json')
  assert.match(
    headers.get('content-security-policy') ?? '',
    /connect-src 'self' https:\/\/stt\.example\.test;/,
  )
})
