import assert from 'node:assert/strict'
import test from 'node:test'
import { limitHeaders } from './limit-headers.ts'

test('whole headers are kept up to 8 KB, and the number of omitted ones is given', () => {
  const headers = { first: 'x'.repeat(4000), long: 'é'.repeat(4000), last: 'y'.repeat(4000) }
  const { first, last } = headers
  assert.deepEqual(limitHeaders(headers), { first, last, '(left out)': '1 header' })
  assert.deepEqual(Object.keys(limitHeaders({ ...headers, more: 'z'.repeat(999) })), [
    ...['first', 'last', '(left out)'],
  ])
  assert.deepEqual(limitHeaders({ first, last }), { first, last })
})

test('a valid Retry-After is kept beyond the limit, an invalid one is not', () => {
  const full = { server: 'x'.repeat(8 * 1024 - 6) }
  const kept = limitHeaders({ ...full, 'retry-after': '120' })
  assert.deepEqual(kept, { ...full, 'retry-after': '120' })
  const long = limitHeaders({ ...full, 'retry-after': '1'.repeat(300) })
  assert.deepEqual(long, { ...full, '(left out)': '1 header' })
})
