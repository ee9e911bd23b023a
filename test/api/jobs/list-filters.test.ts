import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type List = { first: string; current: string; next: string | null; items: JobView[] }

/** An address that nothing answers at: its job ends as failed. */
const NOWHERE = 'http://127.0.0.1:9/talk.wav'

let server: TestServer

before(async () => {
  server = await startServer()
})
after(() => server.close())

async function create(custom_metadata?: object): Promise<string> {
  const json = { audio_url: NOWHERE, ...(custom_metadata && { custom_metadata }) }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201)
  return body.id
}

async function list(query: string, path = '/v2/pre-recorded'): Promise<string[]> {
  const { status, body } = await call<List>(server, `${path}?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.items.map(({ id }) => id)
}

test('jobs are found by metadata in both notations until they are deleted', async () => {
  const id = await create({ team: 'red', order: { id: 42, tags: ['a', 'b'] } })
  await create({ team: 'blue', order: { id: 43 } })
  const queries = [
    'custom_metadata={"team":"red"}',
    'custom_metadata[team]=red',
    'custom_metadata[order][id]=42',
    'custom_metadata={"order":{"id":"42","tags":["a","b"]}}',
    'custom_metadata[order][tags][]=a&custom_metadata[order][tags][]=b&status=queued,processing,done,error',
  ]
  for (const query of queries) {
    assert.deepEqual(await list(query), [id], query)
    assert.deepEqual(await list(query, '/v2/transcription'), [id], query)
    assert.deepEqual(await list(query, '/v2/live'), [], query)
  }
  await server.app.jobs.idle()
  assert.deepEqual(await list('custom_metadata[team]=red&status=error'), [id])
  assert.deepEqual(await list('custom_metadata[team]=red&status=done'), [])
  await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  for (const query of queries) assert.deepEqual(await list(query), [], query)
})

test('following pages while jobs arrive lists every initial job once', async () => {
  const metadata = { paging: true }
  const ids = []
  for (let i = 0; i < 5; i++) ids.unshift(await create(metadata))
  const seen: string[] = []
  let next: string | null = '/v2/pre-recorded?limit=2&custom_metadata[paging]=true'
  while (next) {
    const { body }: { body: List } = await call<List>(server, next)
    seen.push(...body.items.map(({ id }) => id))
    next = body.next
    await create(metadata)
  }
  assert.deepEqual(seen, ids)
})

test('page URLs keep the filters, with metadata as JSON', async () => {
  for (let i = 0; i < 2; i++) await create({ shelf: 'top' })
  const query = 'status=queued&status=error&status=processing&custom_metadata[shelf]=top&limit=1'
  const { body } = await call<List>(server, `/v2/transcription?kind=pre-recorded&${query}`)
  for (const [url, offset] of [
    [body.first, '0'],
    [body.next!, '1'],
  ] as const) {
    const { origin, pathname, searchParams } = new URL(url)
    assert.equal(origin + pathname, `${server.url}/v2/transcription`)
    assert.deepEqual(searchParams.getAll('status'), ['queued', 'error', 'processing'])
    assert.deepEqual(searchParams.getAll('kind'), ['pre-recorded'])
    assert.equal(searchParams.get('custom_metadata'), '{"shelf":"top"}')
    assert.deepEqual([searchParams.get('offset'), searchParams.get('limit')], [offset, '1'])
  }
})

test('jobs are filtered by date, before_date and after_date', async () => {
  const id = await create({ dated: 'yes' })
  const { body } = await call<JobView>(server, `/v2/pre-recorded/${id}`)
  const at = body.created_at
  const day = at.slice(0, 10)
  const later = new Date(Date.parse(at) + 1).toISOString()
  const earlier = new Date(Date.parse(at) - 1).toISOString()
  const found = (query: string) => list(`custom_metadata[dated]=yes&${query}`)
  for (const query of [
    `date=${day}`,
    `date=${at}`,
    `before_date=${later}`,
    `after_date=${earlier}`,
  ]) {
    assert.deepEqual(await found(query), [id], query)
  }
  for (const query of [`date=2020-01-01`, `before_date=${at}`, `after_date=${at}`]) {
    assert.deepEqual(await found(query), [], query)
  }
})

test('metadata filters beyond the limits of a job are rejected', async () => {
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, i]))
  const pairs = Object.keys(many).map((key) => `custom_metadata[${key}]=1`)
  const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`
  for (const query of [
    `custom_metadata=${JSON.stringify(many)}`,
    pairs.join('&'),
    `custom_metadata=${deep}`,
  ]) {
    const { status, body } = await call<ErrorBody>(server, `/v2/transcription?${query}`)
    assert.deepEqual(
      [status, body.validation_errors],
      [
        400,
        [
          'custom_metadata must not be longer than 2000 characters as JSON (STENO_MAX_METADATA_CHARS)',
        ],
      ],
    )
  }
  const most = Object.fromEntries(Array.from({ length: 220 }, (_, i) => [`${i}`, 1]))
  const id = await create(most)
  assert.deepEqual(
    await list(`status=error,queued,processing&custom_metadata=${JSON.stringify(most)}`),
    [id],
  )
})

test('a number too large for JSON is found as stored until its job is deleted', async () => {
  const body = `{"audio_url":"${NOWHERE}","custom_metadata":{"huge":1e999}}`
  const headers = { 'content-type': 'application/json' }
  const { body: job } = await call<{ id: string }>(server, '/v2/pre-recorded', { body, headers })
  const query = 'custom_metadata[huge]=null'
  assert.deepEqual(await list(query), [job.id])
  await server.app.jobs.idle()
  await call(server, `/v2/pre-recorded/${job.id}`, { method: 'DELETE' })
  assert.deepEqual(await list(query), [])
})

test('HEAD of a list and of a job has the headers of GET without a body', async () => {
  const id = await create()
  for (const path of ['/v2/pre-recorded?limit=3', `/v2/pre-recorded/${id}`]) {
    const { status, headers, body } = await call<string>(server, path, { method: 'HEAD' })
    assert.deepEqual([status, body], [200, ''])
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  }
})

test('the kind filter applies only where both kinds are listed', async () => {
  const id = await create({ kinds: 'x' })
  const query = 'custom_metadata[kinds]=x'
  assert.deepEqual(await list(`${query}&kind=live`, '/v2/transcription'), [])
  assert.deepEqual(await list(`${query}&kind=live&kind=pre-recorded`, '/v2/transcription'), [id])
  assert.deepEqual(await list(`${query}&kind=live`), [id])
})

test('invalid filters get 400 with one error per parameter', async () => {
  const { status, body } = await call<ErrorBody>(
    server,
    '/v2/live?status=ended&date=x&custom_metadata=[]',
  )
  assert.equal(status, 400)
  assert.deepEqual(body.validation_errors, [
    'date must be an ISO 8601 date or date-time',
    'status must be one of: queued, processing, done, error',
    'custom_metadata must be an object',
  ])
})
