import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startServer } from '../../support/server/start-server.ts'

const origin = 'https://app.example.com'
const preflight = {
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-service-key,content-type',
  },
}

async function start(t: TestContext, origins: string) {
  const server = await startServer({
    env: { STENO_CORS_ORIGINS: origins, STENO_REQUEST_ID_HEADER_NAMES: 'x-trace' },
  })
  t.after(() => server.close())
  return server
}

test('a page of a listed origin may send requests with a key and read responses', async (t) => {
  const { url, key } = await start(t, `${origin},https://other.example.com`)
  for (const path of ['/v2/pre-recorded', '/v2/upload', '/v1/audio/transcriptions', '/v2/live/x']) {
    const { status, headers } = await fetch(url + path, preflight)
    assert.equal(status, 204, path)
    assert.equal(headers.get('access-control-allow-origin'), origin)
    assert.match(headers.get('access-control-allow-methods')!, /POST/)
    assert.match(headers.get('access-control-allow-headers')!, /x-service-key/)
    assert.equal(headers.get('access-control-allow-credentials'), null)
  }
  const listed = await fetch(`${url}/v2/pre-recorded`, {
    headers: { origin, 'x-service-key': key },
  })
  assert.equal(listed.status, 200)
  assert.equal(listed.headers.get('access-control-allow-origin'), origin)
  const exposed = listed.headers.get('access-control-expose-headers')!
  assert.match(exposed, /x-error-code.*content-range.*x-trace/)
  const refused = await fetch(`${url}/v2/pre-recorded`, { headers: { origin } })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('access-control-allow-origin'), origin, 'errors can be read too')
  for (const [method, path, status] of [
    ['GET', '/v2/nope', 404],
    ['PUT', '/v2/upload', 405],
    ['OPTIONS', '/v2/upload', 204],
  ] as const) {
    const response = await fetch(url + path, { method, headers: { origin } })
    assert.equal(response.status, status)
    assert.equal(response.headers.get('access-control-allow-origin'), origin, path)
  }
})

test('a page of an unlisted origin is not allowed', async (t) => {
  const { url } = await start(t, 'https://other.example.com')
  const { headers } = await fetch(`${url}/v2/pre-recorded`, preflight)
  assert.notEqual(headers.get('access-control-allow-origin'), origin)
})

test('without STENO_CORS_ORIGINS preflight requests are answered but allow nothing', async (t) => {
  const { url } = await start(t, '')
  for (const path of ['/v2/pre-recorded', '/v2/upload', '/v2/live/x']) {
    const { status, headers } = await fetch(url + path, preflight)
    assert.equal(status, 204, path)
    const names = [...headers.keys()].filter((name) => name.startsWith('access-control-'))
    assert.deepEqual(names, [])
  }
  assert.equal((await fetch(`${url}/v2/nope`, preflight)).status, 404)
  const { status } = await fetch(`${url}/v2/upload`, { method: 'OPTIONS', headers: { origin } })
  assert.equal(status, 405, 'no preflight')
})
