import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startServer } from '../../support/server/start-server.ts'

const built = join(import.meta.dirname, '../../../guide/dist/index.html')
const skip = !existsSync(built) && 'the documentation is not built'

test('the guide is served without a key, and no other files', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const get = (path: string, init: RequestInit = {}) => {
    return fetch(server.url + path, { redirect: 'manual', ...init })
  }
  for (const [path, place] of [
    ['/guide', 'guide/index.html'],
    ['/guide/', 'index.html'],
  ] as const) {
    const { status, headers } = await get(path)
    assert.deepEqual([status, headers.get('location')], [302, place])
  }
  for (const encoding of ['br', 'gzip', 'identity']) {
    const page = await get('/guide/guides/meetings.html', {
      headers: { 'accept-encoding': encoding },
    })
    assert.match(await page.text(), /<h1 id="meetings">/)
    assert.match(page.headers.get('content-security-policy')!, /script-src 'self';/)
    assert.equal(page.headers.get('content-encoding'), encoding === 'identity' ? null : encoding)
  }
  for (const path of ['missing.html', 'a/b/c.html', '..%2fpackage.json', '%2e%2e/guide.css']) {
    assert.equal((await get(`/guide/${path}`)).status, 404, path)
  }
})
