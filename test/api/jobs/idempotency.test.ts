import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

type Created = { id: string; result_url: string }

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_MAX_QUEUED_JOBS: '1' } })
})
after(() => server.close())

function create(
  name: string,
  json: unknown = { audio_url: 'http://127.0.0.1:9/a.wav' },
  more = {},
) {
  const { path = '/v2/pre-recorded', headers = {} }: { path?: string; headers?: object } = more
  return call<Created>(server, path, { json, headers: { 'idempotency-key': name, ...headers } })
}

test('a repeated idempotent request gets the first response and no second job', async () => {
  const first = await create('one')
  assert.equal(first.status, 201)
  const reordered = { custom_metadata: { b: [1], a: 2 }, audio_url: 'http://127.0.0.1:9/a.wav' }
  const named = { audio_url: reordered.audio_url, custom_metadata: { a: 2, b: [1] } }
  await server.app.jobs.idle()
  const { body } = await create('ordered', named)
  assert.deepEqual((await create('ordered', reordered)).body, body)
  const [second, third] = await Promise.all([create('one'), create('one')])
  assert.deepEqual([second.status, second.body], [201, first.body])
  assert.deepEqual(third.body, first.body)
  const list = await call<{ items: unknown[] }>(server, '/v2/pre-recorded')
  assert.equal(list.body.items.length, 2)
})

test('concurrent requests with one idempotency key create one job', async () => {
  await server.app.jobs.idle()
  const responses = await Promise.all(Array.from({ length: 5 }, () => create('two')))
  assert.equal(new Set(responses.map(({ body }) => body.id)).size, 1)
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]))
})

test('an idempotency key with another body gets 422', async () => {
  await server.app.jobs.idle()
  await create('three')
  const { status, headers, body } = await create('three', { audio_url: 'http://127.0.0.1:9/b.wav' })
  assert.deepEqual([status, headers.get('x-error-code')], [422, 'idempotency_conflict'])
  assert.equal((body as unknown as ErrorBody).statusCode, 422)
})

test('keys are separate per account, and the older path repeats its own response', async () => {
  await server.app.jobs.idle()
  const first = await create('four')
  const other = await create('four', undefined, { headers: { 'x-service-key': OTHER_KEY } })
  assert.equal(other.status, 201)
  assert.notEqual(other.body.id, first.body.id)
  const older = await create('four', undefined, { path: '/v2/transcription' })
  assert.deepEqual(older.body, {
    id: first.body.id,
    result_url: `${server.url}/v2/transcription/${first.body.id}`,
  })
})

test('a rejected request may be retried with its idempotency key', async () => {
  await server.app.jobs.idle()
  assert.equal((await create('five', { audio_url: 'x' })).status, 400)
  assert.equal((await create('five')).status, 201)
})

test('an empty or overlong idempotency key gets 400', async () => {
  const refused = await create('x'.repeat(256))
  assert.equal(refused.status, 400)
  assert.deepEqual((refused.body as unknown as ErrorBody).validation_errors, [
    'idempotency_key must be 1 to 255 characters long',
  ])
  assert.equal((await create('')).status, 400)
  await server.app.jobs.idle()
  assert.equal((await create('x'.repeat(255))).status, 201)
})
