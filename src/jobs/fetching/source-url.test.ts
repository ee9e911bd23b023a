import assert from 'node:assert/strict'
import test from 'node:test'
import { fileNameInUrl } from './source-url.ts'

test('a fetched recording is named after the last segment of the URL path, decoded', () => {
  assert.equal(
    fileNameInUrl('https://a.example/calls/Call%20No%201.mp3?token=x#t'),
    'Call No 1.mp3',
  )
  assert.equal(fileNameInUrl('https://a.example/100%.mp3'), '100%.mp3')
  assert.equal(fileNameInUrl('https://a.example/'), null)
  assert.equal(fileNameInUrl('https://a.example'), null)
})

test('a file name from a URL contains no folders or line breaks', () => {
  assert.equal(fileNameInUrl('https://a.example/..%2F..%2Fetc%2Fx.au'), 'x.au')
  assert.equal(fileNameInUrl('https://a.example/a%0D%0AX:y.au'), 'aX:y.au')
  assert.equal(fileNameInUrl('https://a.example/a%5Cb.au'), 'b.au')
})
