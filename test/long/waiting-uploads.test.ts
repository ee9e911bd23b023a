import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { call, type ErrorBody } from '../support/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../support/start-server.ts'

const fixture = new URL('../fixtures/jfk.flac', import.meta.url)

function send({ url, key }: Pick<TestServer, 'url' | 'key'>, content: Uint8Array) {
  const body = new FormData()
  body.set('audio', new Blob([new Uint8Array(content)]), 'recording')
  return call<ErrorBody & { audio_url: string }>({ url, key }, '/v2/upload', {
    method: 'POST',
    body,
  })
}

test('more uploads of an account than may wait are refused, those of another are not', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const sent = Array.from({ length: 125 }, () => send(server, Buffer.from('no media at all')))
  const other = await send({ url: server.url, key: OTHER_KEY }, readFileSync(fixture))
  assert.equal(other.status, 200)
  const answers = await Promise.all(sent)
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0 && refused.length <= 25, `${refused.length} refused`)
  for (const { headers, body } of refused) {
    assert.equal(headers.get('x-error-code'), 'too_many_uploads')
    assert.ok(Number(headers.get('retry-after')) >= 1)
    assert.match(body.message, /100 uploads of the account wait/)
  }
  assert.ok(answers.every(({ status }) => status === 415 || status === 429))
})
