import assert from 'node:assert/strict'
import test from 'node:test'
import { basicCredentials } from './basic-credentials.ts'

test('credentials of a URL become a decoded Authorization header', () => {
  const pairs = [
    ['https://me:s%C3%A9same@a.example/', 'me:sésame'],
    ['https://me@a.example/', 'me:'],
    ['https://:key@a.example/', ':key'],
    ['https://me:100%@a.example/', 'me:100%'],
  ] as const
  for (const [url, pair] of pairs) {
    const expected = `Basic ${Buffer.from(pair).toString('base64')}`
    assert.equal(basicCredentials(new URL(url)), expected)
  }
})

test('a URL without credentials needs no header', () => {
  assert.equal(basicCredentials(new URL('https://a.example/')), undefined)
})
