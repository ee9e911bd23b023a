import assert from 'node:assert/strict'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import test from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { createToneWav } from '../support/audio/recordings.ts'
import { upload } from '../support/net/http-client.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'
import { readDatabase } from '../support/storage/stored-text.ts'

type Response = { status: number; body: Record<string, unknown> }

/** A request under any `Host`, which `fetch` would not send. */
function send(
  { url, key }: TestServer,
  path: string,
  { body, ...headers }: Record<string, string>,
): Promise<Response> {
  const method = body === undefined ? 'GET' : 'POST'
  const all = { 'x-service-key': key, 'content-type': 'application/json', ...headers }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers: all }, async (response) => {
      const answered = (await json(response)) as Response['body']
      resolve({ status: response.statusCode!, body: answered })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('only allowed hosts are served, in any case and with any port', async (t) => {
  const env = { STENO_ALLOWED_HOSTS: 'STT.example, [::1]:7070' }
  const server = await startServer({ env })
  t.after(() => server.close())
  for (const host of ['stt.example', 'Stt.Example:8080', '[::1]:7070']) {
    assert.equal((await send(server, '/v2/live', { host })).status, 200, host)
  }
  for (const host of ['evil.example', 'stt.example.evil.example', '[::1]:7071', '127.0.0.1']) {
    const { status, body } = await send(server, '/v2/live', { host })
    assert.equal(status, 400, host)
    assert.match(String(body.message), /is not among STENO_ALLOWED_HOSTS$/)
  }
  // A balancer and Kubernetes send the address of the server itself.
  for (const path of ['/health', '/ready']) {
    assert.equal((await send(server, path, { host: '10.0.0.12:7070' })).status, 200, path)
  }
})

test('an overlong Host or an invalid forwarded one gets 400', async (t) => {
  const server = await startServer({ env: { STENO_TRUST_PROXY: 'true' } })
  t.after(() => server.close())
  const long = `${'a'.repeat(300)}.example`
  assert.equal((await send(server, '/v2/live', { host: long })).status, 400)
  for (const forwarded of ['a@b.example', 'a/b', long, 'a b']) {
    const headers = { host: 'a', 'x-forwarded-host': forwarded }
    assert.equal((await send(server, '/v2/live', headers)).status, 400, forwarded)
  }
  const allowed = { host: 'a', 'x-forwarded-host': 'b.example, c' }
  assert.equal((await send(server, '/v2/live', allowed)).status, 200)
})

test('an invalid STENO_ALLOWED_HOSTS is an error at the start', () => {
  for (const wrong of ['https://a.example', 'a/b', 'a:99999', '*']) {
    assert.throws(() => readConfig({ STENO_ALLOWED_HOSTS: wrong }), /STENO_ALLOWED_HOSTS must hold/)
  }
})

test('no URL built from a Host header is stored', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const host = 'poisoned.example'
  const audio_url = await upload(server, createToneWav(1))
  const created = await send(server, '/v2/pre-recorded', {
    host,
    'idempotency-key': 'one',
    body: JSON.stringify({ audio_url, callback_url: 'http://127.0.0.1:9/callback' }),
  })
  assert.equal(created.status, 201)
  assert.match(String(created.body.result_url), /^http:\/\/poisoned\.example\//)
  const session = await send(server, '/v2/live', { host, body: '{}', 'idempotency-key': 'two' })
  assert.equal(session.status, 201)
  await server.app.jobs.idle()
  assert.ok(!readDatabase(server.folder).includes(host))
})
