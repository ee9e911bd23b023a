import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { tryUpload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer } from '../../support/server/start-server.ts'

const fixture = new URL('../../fixtures/jfk.flac', import.meta.url)

test('waiting uploads are limited per account, and other accounts not affected', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const sent = Array.from({ length: 125 }, () => tryUpload(server, Buffer.from('no media at all')))
  const other = await tryUpload({ url: server.url, key: OTHER_KEY }, readFileSync(fixture))
  assert.equal(other.status, 200)
  const responses = await Promise.all(sent)
  const refused = responses.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0 && refused.length <= 25, `${refused.length} refused`)
  for (const { headers, body } of refused) {
    assert.equal(headers.get('x-error-code'), 'too_many_uploads')
    assert.ok(Number(headers.get('retry-after')) >= 1)
    assert.match(body.message, /100 uploads of the account wait/)
  }
  const others = responses.filter(({ status }) => status !== 415 && status !== 429)
  assert.deepEqual(
    others.map(({ body }) => body),
    [],
  )
})
