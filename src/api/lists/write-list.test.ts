import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ListQuery, listQueryOf } from '../schemas/common/list-query.ts'
import { toFilter, toPageRequest } from './list-query.ts'
import { parseQuery } from './parse-query.ts'
import { compileQueryReader } from './query-reader.ts'
import { pageUrls } from './write-list.ts'

const place = { createdAt: 1000, id: '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11' }
const readQuery = compileQueryReader({
  schema: listQueryOf(undefined),
  method: 'GET',
  url: '/v2/transcription',
  httpPart: 'querystring',
})

/** Returns the query as a route receives it, or the lines of its problems. */
function read(text: string): ListQuery | readonly string[] {
  const { value, error } = readQuery(parseQuery(text)) as unknown as {
    value: ListQuery
    error?: { validationErrors: readonly string[] }
  }
  return error ? error.validationErrors : value
}

function query(text: string): ListQuery {
  const found = read(text)
  assert.ok(!Array.isArray(found), String(found))
  return found as ListQuery
}

test('pageUrls links the first, current and next page, the next with a cursor', () => {
  const page = { rows: [place], more: true }
  assert.deepEqual(
    pageUrls('http://a/v2/live', query('status=done&offset=4&limit=2'), { limit: 2, page }),
    {
      first: 'http://a/v2/live?status=done&offset=0&limit=2',
      current: 'http://a/v2/live?status=done&offset=4&limit=2',
      next: `http://a/v2/live?status=done&offset=6&limit=2&cursor=6.1000.${place.id}`,
    },
  )
})

test('the last page has no next URL', () => {
  const page = { rows: [place], more: false }
  assert.equal(pageUrls('http://a', query('offset=4'), { limit: 2, page }).next, null)
})

test('the next URL of a list without rows has an offset and no cursor', () => {
  const { next } = pageUrls('http://a', query('offset=4'), { limit: 2, page: { more: true } })
  assert.equal(next, 'http://a?offset=6&limit=2')
})

test('a cursor is used only with the offset that it was made for', () => {
  const cursor = `6.1000.${place.id}`
  assert.deepEqual(toPageRequest(query(`offset=6&cursor=${cursor}`), 2).after, {
    offset: 6,
    ...place,
  })
  assert.equal(toPageRequest(query(`offset=8&cursor=${cursor}`), 2).after, undefined)
})

test('list values may be repeated, in brackets or comma-separated; empty ones are ignored', () => {
  for (const text of [
    'status=done&status=error',
    'status[]=done&status[]=error',
    'status%5B%5D=done&status[]=error',
    'status=done,error',
    'status=,done,&status=error',
    'status[0]=done&status[1]=error',
  ]) {
    assert.deepEqual(query(text).status, ['done', 'error'], text)
  }
  for (const text of ['status=', 'status[]=', 'status=,', '']) {
    assert.equal(query(text).status, undefined, text)
  }
})

test('metadata filters may be JSON or in brackets', () => {
  assert.deepEqual({ ...query('custom_metadata[0]=x').custom_metadata }, { 0: 'x' })
  for (const text of [
    'custom_metadata={"team":"red","a":{"b":["x","y"]}}',
    'custom_metadata[team]=red&custom_metadata[a][b][]=x&custom_metadata[a][b][]=y',
    'custom_metadata[team]=red&custom_metadata[a][b][0]=x&custom_metadata[a][b][1]=y',
    'custom_metadata%5Bteam%5D=red&custom_metadata[a][b]=x&custom_metadata[a][b]=y',
  ]) {
    const { custom_metadata } = query(text)
    assert.deepEqual(JSON.parse(JSON.stringify(custom_metadata)), {
      team: 'red',
      a: { b: ['x', 'y'] },
    })
  }
})

for (const [text, line] of [
  ['status=finished', 'status must be one of: queued, processing, done, error'],
  ['status[x]=done', 'status must be an array'],
  ['status=a&status=b,c', 'status must be one of: queued, processing, done, error'],
  ['kind=video', 'kind must be one of: pre-recorded, live'],
  ['date=2026-02-30', 'date must be an ISO 8601 date or date-time'],
  ['before_date=yesterday', 'before_date must be an ISO 8601 date or date-time'],
  ['after_date=1', 'after_date must be an ISO 8601 date or date-time'],
  ['custom_metadata=team', 'custom_metadata must be an object'],
  ['custom_metadata=null', 'custom_metadata must be an object'],
  ['custom_metadata=[1]', 'custom_metadata must be an object'],
  ['custom_metadata="x"', 'custom_metadata must be an object'],
  ['cursor=x', 'cursor must be a cursor that a list returned'],
  ['offset=1e3', 'offset must be an integer'],
  ['limit=0', 'limit must not be less than 1'],
] as const) {
  test(`?${text} is refused: ${line}`, () => assert.deepEqual(read(text), [line]))
}

test('a number too large for JavaScript becomes the largest safe integer', () => {
  const { limit, offset } = query(`limit=${'9'.repeat(30)}&offset=${'9'.repeat(400)}`)
  assert.deepEqual([limit, offset], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
})

test('all errors of a query are reported at once, in the order of its fields', () => {
  assert.deepEqual(read('status=x&limit=a&date=b'), [
    'limit must be an integer',
    'date must be an ISO 8601 date or date-time',
    'status must be one of: queued, processing, done, error',
  ])
})

test('date selects a whole day, and before_date and after_date are exclusive', () => {
  const noon = Date.UTC(2026, 2, 4, 12)
  const midnight = Date.UTC(2026, 2, 4)
  const bounds = (text: string) => {
    const { from, before } = toFilter(query(text))
    return [from, before]
  }
  assert.deepEqual(bounds('date=2026-03-04'), [midnight, midnight + 86_400_000])
  assert.deepEqual(bounds('date=2026-03-04T12:00:00Z'), [midnight, midnight + 86_400_000])
  assert.deepEqual(bounds('date=2026-03-05T01:00:00%2B02:00'), [midnight, midnight + 86_400_000])
  assert.deepEqual(bounds('after_date=2026-03-04T12:00:00.000Z'), [noon + 1, undefined])
  assert.deepEqual(bounds('before_date=2026-03-04T12:00:00'), [undefined, noon])
  assert.deepEqual(bounds('date=2026-03-04&before_date=2026-03-04T12:00'), [midnight, noon])
  assert.deepEqual(bounds('after_date=2026-03-04&before_date=2026-03-04'), [midnight + 1, midnight])
  assert.deepEqual(bounds('date='), [undefined, undefined])
})

const filters = fc.record(
  {
    status: fc.subarray(['queued', 'processing', 'done', 'error'], { minLength: 1 }),
    kind: fc.subarray(['pre-recorded', 'live'], { minLength: 1 }),
    date: fc.constantFrom('2026-03-04', '2026-03-04T05:06:07.089Z', '2026-03-04T05:06:07+02:00'),
    custom_metadata: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), {
      noNullPrototype: true,
    }),
  },
  { requiredKeys: [] },
)

test('the next URL keeps all filters', () => {
  const page = { rows: [place], more: true }
  fc.assert(
    fc.property(filters, fc.nat(1000), fc.integer({ min: 1, max: 9 }), (given, offset, limit) => {
      const requested = { ...JSON.parse(JSON.stringify(given)), offset, limit } as ListQuery
      const { next, current, first } = pageUrls('http://a/v2/live', requested, { limit, page })
      for (const [url, expected] of [
        [next!, offset + limit],
        [current, offset],
        [first, 0],
      ] as const) {
        const { cursor: _, ...again } = query(new URL(url).search)
        assert.deepEqual(JSON.parse(JSON.stringify(again)), { ...requested, offset: expected })
      }
    }),
  )
})
