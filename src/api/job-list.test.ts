import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageUrls } from './job-list.ts'

test('a page in the middle names its neighbours', () => {
  assert.deepEqual(pageUrls('http://a/v2/live', { offset: 4, limit: 2, more: true }), {
    first: 'http://a/v2/live?offset=0&limit=2',
    current: 'http://a/v2/live?offset=4&limit=2',
    next: 'http://a/v2/live?offset=6&limit=2',
  })
})

test('nothing comes after the last page', () => {
  assert.equal(pageUrls('http://a', { offset: 4, limit: 2, more: false }).next, null)
})
