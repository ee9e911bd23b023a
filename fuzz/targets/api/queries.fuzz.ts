import assert from 'node:assert/strict'
import { isCursor, toFilter, toPageRequest } from '../../../src/api/lists/list-query.ts'
import { parseQuery, type QueryValue } from '../../../src/api/lists/parse-query.ts'
import { compileQueryReader } from '../../../src/api/lists/query-reader.ts'
import { pageUrls } from '../../../src/api/lists/write-list.ts'
import { AuditQuery } from '../../../src/api/schemas/accounts/audit.ts'
import { UsageQuery } from '../../../src/api/schemas/accounts/usage.ts'
import { type ListQuery, listQueryOf } from '../../../src/api/schemas/common/list-query.ts'
import { searchQuery } from '../../../src/api/schemas/transcripts/search.ts'
import { AppError } from '../../../src/errors.ts'
import { findHighlights, parseSearchQuery } from '../../../src/text/search/search-query.ts'
import { fuzzBytes } from '../../guided.ts'

const id = '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11'
const seeds = (...texts: string[]) => texts.map((text) => Buffer.from(text))

const lists = seeds(
  `offset=6&limit=2&cursor=6.1000.${id}`,
  'status=done,error&kind[]=live&date=2026-03-04&results=false',
  'before_date=2026-03-04T05:06:07.089%2B02:00&after_date=2026-03-04',
  'custom_metadata={"team":"red","a":{"b":["x",null]}}',
  'custom_metadata[team]=red&custom_metadata[a][b][0]=x&custom_metadata[a][b][]=y',
)

/** The schema of each list. */
const schemas = {
  jobs: listQueryOf(undefined),
  audit: AuditQuery,
  usage: UsageQuery,
  search: searchQuery({ extraLanguageCodes: [] }),
}
const readers = Object.values(schemas).map((schema) =>
  compileQueryReader({ schema, method: 'GET', url: '/', httpPart: 'querystring' }),
)

const prototype = JSON.stringify(Object.getOwnPropertyNames(Object.prototype))

type Read = { value?: object; error?: unknown }

/** A query is read, or refused as the request's fault; the page's URLs ask for the same again. */
function read(bytes: Buffer): void {
  const parsed = parseQuery(bytes.toString('latin1'))
  for (const reader of readers) {
    const { error } = reader(parsed) as Read
    if (error) assert.ok(error instanceof AppError && error.status === 400, String(error))
  }
  assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), prototype)
  const { value } = readers[0]!(parsed) as Read
  if (value) followPages(value as ListQuery)
}

function followPages(query: ListQuery): void {
  const { from, before } = toFilter(query)
  for (const moment of [from, before]) assert.ok(moment === undefined || Number.isFinite(moment))
  const { offset, after } = toPageRequest(query, 5)
  assert.ok(Number.isSafeInteger(offset) && offset >= 0)
  assert.ok(!after || (Number.isSafeInteger(after.createdAt) && after.id.length === 36))
  const { current } = pageUrls('http://a/', query, { limit: query.limit, page: { more: false } })
  const again = readers[0]!(parseQuery(new URL(current).search)) as { value?: Read }
  assert.deepEqual(plain(again.value), plain(query))
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null))
}

async function search(bytes: Buffer): Promise<void> {
  const text = bytes.toString()
  const query = await parseSearchQuery(text, ['en', 'de'])
  if (!query) return
  for (const [start, end] of await findHighlights(text, { query, language: 'en' })) {
    assert.ok(start >= 0 && end > start && end <= text.length)
  }
}

await fuzzBytes(
  'queries',
  {
    lists,
    words: seeds('hello "two words" -without beg*', '"open -x* é İ 漢字 --- "" *', '-a "b'),
    cursors: seeds(`6.1000.${id}`),
  },
  (bytes, kind) => {
    if (kind === 'lists') return read(bytes)
    if (kind === 'words') return search(bytes)
    const { cursor } = parseQuery(`cursor=${bytes.toString('latin1')}`) as { cursor?: QueryValue }
    if (typeof cursor === 'string' && isCursor(cursor)) assert.match(cursor, /^[\d.a-f-]+$/)
  },
)
