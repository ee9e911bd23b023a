import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createReadiness } from '../../../src/api/routes/operations/health.ts'
import { AppError } from '../../../src/errors.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, type Uploaded } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

test('health and readiness need no key', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  for (const path of ['/health', '/ready']) {
    const response = await fetch(server.url + path)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { status: 'ok' })
  }
})

test('a server whose engine is unavailable is alive but not ready', async (t) => {
  const speech = createFakeSpeechEngine('hello')
  speech.checkReady = async () => {
    throw new AppError('engine_unavailable', 'no model is installed')
  }
  const server = await startServer({ speech })
  t.after(() => server.close())
  assert.equal((await call(server, '/health')).status, 200)
  const { status, headers, body } = await call<ErrorBody>(server, '/ready')
  assert.equal(status, 503)
  assert.ok(Number(headers.get('retry-after')) >= 1)
  assert.equal(body.statusCode, 503)
  assert.match(body.message, /no model is installed/)
})

test('a server that cannot reach a shared database is alive but not ready', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const { db } = server.app.storage
  Object.assign(db, { isShared: true })
  const executor = db.reader.getExecutor()
  const query = t.mock.method(executor, 'executeQuery', async () => {
    throw new AppError('database_unavailable')
  })
  assert.equal((await call(server, '/health')).status, 200)
  const { status, body } = await call<ErrorBody>(server, '/ready')
  query.mock.restore()
  Object.assign(db, { isShared: false })
  assert.deepEqual([status, body.message], [503, 'Cannot reach the database'])
})

test('concurrent readiness requests check the engine once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let requested = 0
  const response = Promise.withResolvers<void>()
  const checkReady = createReadiness({
    async checkReady() {
      requested++
      await response.promise
    },
  })
  const polls = [checkReady(), checkReady()]
  response.resolve()
  await Promise.all(polls)
  await checkReady()
  assert.equal(requested, 1)
  t.mock.timers.tick(5000)
  await checkReady()
  assert.equal(requested, 2)
})

test('a failed readiness check is repeated after a while', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let broken = true
  const checkReady = createReadiness({
    async checkReady() {
      if (broken) throw new Error('stuck')
    },
  })
  await assert.rejects(checkReady, { code: 'engine_unavailable' })
  broken = false
  await assert.rejects(checkReady, { code: 'engine_unavailable' })
  t.mock.timers.tick(5000)
  await checkReady()
})

test('every returned URL uses the configured base URL with its path', async (t) => {
  const env = { STENO_PUBLIC_BASE_URL: 'https://stt.example/api/', STENO_TRUST_PROXY: 'true' }
  const server = await startServer({ env })
  t.after(() => server.close())
  const headers = { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'https' }
  const form = new FormData()
  form.set('audio', new Blob([createToneWav(1)]), 'a.wav')
  const uploaded = await call<Uploaded>(server, '/v2/upload', { body: form, headers })
  const { id } = uploaded.body.audio_metadata
  assert.equal(uploaded.body.audio_url, `https://stt.example/api/file/${id}`)

  // The upload is known under the base and under every origin by which the server was reached.
  for (const base of ['https://stt.example/api', 'https://elsewhere.example']) {
    const json = { audio_url: `${base}/file/${id}` }
    const { status, body } = await call(server, '/v2/pre-recorded', { json, headers })
    assert.equal(status, 201)
    assert.equal(body.result_url, `https://stt.example/api/v2/pre-recorded/${body.id}`)
    await server.app.jobs.idle()
    assert.equal((await call(server, `/v2/pre-recorded/${body.id}`)).body.status, 'done')
  }
  const { body } = await call(server, '/v2/live')
  assert.equal(body.first, 'https://stt.example/api/v2/live?offset=0&limit=20')
})

test('behind a trusted proxy URLs use the forwarded host', async (t) => {
  const server = await startServer({ env: { STENO_TRUST_PROXY: 'true' } })
  t.after(() => server.close())
  const headers = { 'x-forwarded-host': 'stt.example', 'x-forwarded-proto': 'https' }
  const { body } = await call(server, '/v2/live', { headers })
  assert.equal(body.first, 'https://stt.example/v2/live?offset=0&limit=20')
})

test('a file URL of another origin is fetched like any other', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const json = { audio_url: `http://127.0.0.1:9/file/${randomUUID()}` }
  const { status, body } = await call(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201)
  await server.app.jobs.idle()
  const job = await call(server, `/v2/pre-recorded/${body.id}`)
  assert.deepEqual([job.body.status, job.body.error_code], ['error', 502])
})

test('a closing server finishes running requests and rejects new ones', async () => {
  const requested = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const speech = createFakeSpeechEngine('hello')
  speech.checkReady = async () => {
    requested.resolve()
    await held.promise
  }
  const server = await startServer({ speech })
  const { hostname, port } = new URL(server.url)
  const [busy, late] = [connect(Number(port), hostname), connect(Number(port), hostname)]
  const responses = Promise.all([text(busy), text(late)])
  late.write('GET /v2/live HTTP/1.1\r\n')
  busy.write('GET /ready HTTP/1.1\r\nhost: a\r\n\r\n')
  await requested.promise
  const closed = server.close()
  while (server.app.http.server.listening) await setImmediate()
  late.write(`host: a\r\nx-service-key: ${server.key}\r\n\r\n`)
  held.resolve()
  const [first, second] = await responses
  assert.match(first, /^HTTP\/1\.1 200 /)
  assert.match(first, /^connection: close\r$/im)
  assert.match(first, /\{"status":"ok"\}$/)
  assert.match(second, /^HTTP\/1\.1 503 /)
  assert.match(second, /^retry-after: \d+\r$/m)
  assert.match(second, /"statusCode":503/)
  await closed
  await assert.rejects(fetch(`${server.url}/health`))
})
