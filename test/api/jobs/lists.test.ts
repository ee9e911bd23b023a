import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type List = { first: string; current: string; next: string | null; items: JobView[] }

const KINDS = ['pre-recorded', 'live'] as const
const COUNT = 25

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_LIST_MAX_LIMIT: '10' } })
  for (let i = 0; i < COUNT; i++) {
    const job = {
      id: `00000000-0000-4000-8000-0000000000${String(i).padStart(2, '0')}`,
      account: 'test',
      kind: KINDS[i % 2],
      status: 'done',
      // Some share a moment, so that the order needs the id.
      created_at: Date.UTC(2026, 2, 4) + Math.floor(i / 3),
      run_after: 0,
      post_session_metadata: '{}',
    }
    await server.app.storage.db.sql
      .insertInto('jobs')
      .values(job as never)
      .execute()
  }
})
after(() => server.close())

async function walk(path: string): Promise<string[]> {
  const ids: string[] = []
  for (let next: string | null = path; next; ) {
    const { status, body }: { status: number; body: List } = await call<List>(server, next)
    assert.equal(status, 200)
    ids.push(...body.items.map(({ id }) => id.slice(-2)))
    next = body.next
  }
  return ids
}

test('following a list visits every job once, newest first', async () => {
  const all = Array.from({ length: COUNT }, (_, i) => String(COUNT - 1 - i).padStart(2, '0'))
  for (const limit of [1, 4, 7]) {
    assert.deepEqual(await walk(`/v2/transcription?limit=${limit}`), all)
  }
  const even = all.filter((id) => Number(id) % 2 === 0)
  assert.deepEqual(await walk('/v2/pre-recorded?limit=4'), even)
  const odd = all.filter((id) => Number(id) % 2 === 1)
  assert.deepEqual(await walk('/v2/live?limit=4'), odd)
})

test('a page links the first, current and next page on the requested path', async () => {
  const { body } = await call<List>(server, '/v2/live?offset=2&limit=3&color=red')
  const url = `${server.url}/v2/live?offset=`
  assert.deepEqual([body.first, body.current], [`${url}0&limit=3`, `${url}2&limit=3`])
  const last = body.items.at(-1)!
  const cursor = `5.${Date.parse(last.created_at)}.${last.id}`
  assert.equal(body.next, `${url}5&limit=3&cursor=${cursor}`)
  assert.deepEqual(Object.keys(body), ['first', 'current', 'next', 'items'])
})

test('offset and limit have defaults, also when empty', async () => {
  for (const query of ['', '?offset=&limit=', '/?limit=']) {
    const { body } = await call<List>(server, `/v2/pre-recorded${query}`)
    assert.match(body.current, /\?offset=0&limit=10$/) // the default of 20, lowered to the maximum
  }
  assert.equal((await call<List>(server, '/v2/live?limit=1000000')).body.items.length, 10)
  assert.deepEqual((await call<List>(server, '/v2/live?offset=9007199254740991')).body.items, [])
})

for (const [query, line] of [
  ['offset=-1', 'offset must not be less than 0'],
  ['offset=a', 'offset must be an integer'],
  ['offset=1.5', 'offset must be an integer'],
  ['offset=1e3', 'offset must be an integer'],
  ['offset=0x10', 'offset must be an integer'],
  ['offset=1&offset=2', 'offset must be an integer'],
  ['limit=0', 'limit must not be less than 1'],
  ['limit=%20', 'limit must be an integer'],
  ['limit=%00', 'limit must be an integer'],
] as const) {
  test(`?${query} gets 400: ${line}`, async () => {
    for (const path of ['/v2/pre-recorded', '/v2/live', '/v2/transcription']) {
      const { status, body } = await call<ErrorBody>(server, `${path}?${query}`)
      assert.deepEqual([status, body.validation_errors], [400, [line]])
    }
  })
}

test('another account sees none of the jobs', async () => {
  const { body } = await call<List>({ ...server, key: 'other-key' }, '/v2/transcription')
  assert.deepEqual([body.items, body.next], [[], null])
})

test('a list without results contains all other fields on every page', async () => {
  const whole = (await call<List>(server, '/v2/pre-recorded?limit=2')).body.items
  const { db } = server.app.storage
  const ids = whole.map(({ id }) => id)
  const stored = db.sql.updateTable('jobs').set({ result: '{}' })
  await stored.where('id', 'in', ids).execute()
  const read = async (path: string) => (await call<List>(server, path)).body
  const short = await read('/v2/pre-recorded?limit=1&results=false')
  assert.deepEqual(short.items, [whole[0]])
  assert.deepEqual((await read(short.next!)).items, [whole[1]])
  const longItems = (await (
    await fetch(`${server.url}/v2/pre-recorded?limit=1`, {
      headers: { 'x-service-key': server.key },
    })
  ).json()) as List
  assert.deepEqual(longItems.items[0]!.result, {})
  await db.sql.updateTable('jobs').set({ result: null }).where('id', 'in', ids).execute()
})
