import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Fastify from 'fastify'
import { sendAboutPage } from '../../../src/api/routes/pages/dashboard/about-page.ts'
import { readConfig } from '../../../src/config/config.ts'
import { whyNotBuilt } from '../../support/browser.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const skip = whyNotBuilt() ?? false
const accept = 'text/html,application/xhtml+xml'
/** Compressed bytes of all that the first page loads. */
const MAX_FIRST_PAGE = 250_000

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

test('the page allows only files of this server and is not cached', { skip }, async () => {
  const page = await fetch(server.url, { headers: { accept } })
  assert.equal(page.status, 200)
  const policy = page.headers.get('content-security-policy')!
  assert.match(
    policy,
    /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{22}';/,
  )
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.match(page.headers.get('x-robots-tag')!, /noindex/)
  const text = await page.text()
  const nonce = /nonce-([\w-]+)/.exec(policy)![1]!
  assert.ok(text.includes(`content="${nonce}"`))
  assert.match(text, /name="signed-in" content="no"/)
  const cookie = 'other=1; steno_sign_in=x'
  const known = await fetch(server.url, { headers: { accept, cookie } })
  assert.match(await known.text(), /name="signed-in" content="maybe"/)
  const again = await fetch(server.url, { headers: { accept } })
  assert.ok(!(await again.text()).includes(nonce), 'each page has its own')
})

test('dashboard files are small, compressed and cached by hash', { skip }, async () => {
  const text = await (await fetch(server.url, { headers: { accept } })).text()
  const files = [...text.matchAll(/(?:src|href)="\.\/(dashboard\/[^"]+)"/g)].map(
    ([, name]) => name!,
  )
  assert.ok(files.length >= 2, text)
  let bytes = text.length
  for (const name of files) {
    const headers = { 'accept-encoding': 'br' }
    const { headers: response, body } = await fetch(`${server.url}/${name}`, { headers })
    await body?.cancel()
    assert.equal(response.get('content-encoding'), 'br')
    assert.equal(response.get('cache-control'), 'public, max-age=31536000, immutable')
    bytes += Number(response.get('content-length'))
    const plain = await fetch(`${server.url}/${name}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    assert.equal(plain.headers.get('content-encoding'), null)
    await plain.body?.cancel()
  }
  assert.ok(bytes < MAX_FIRST_PAGE, `${bytes} bytes`)
})

test('only dashboard files are served', async () => {
  const names = [
    '..%2Findex.html',
    '%2e%2e%2Findex.html',
    'index.html',
    'x.js',
    '.js',
    'x.js.br',
    'a%00.js',
  ]
  for (const name of names) {
    const { status, body } = await fetch(`${server.url}/dashboard/${name}`)
    await body?.cancel()
    assert.ok(status === 404 || status === 400, `${name}: ${status}`)
  }
})

test('without built files the page says that the dashboard is not built', async (t) => {
  const http = Fastify()
  t.after(() => http.close())
  const { http: settings } = readConfig({})
  http.get('/', async (request, reply) => {
    return sendAboutPage(request, reply, { http: settings, isBuilt: false })
  })
  const { statusCode, body } = await http.inject('/')
  assert.equal(statusCode, 200)
  assert.match(body, /The dashboard is not built\./)
  assert.match(body, /npm ci --include=dev.*\n.*npm run build/)
  assert.doesNotMatch(body, /href="guide"/)
})
