import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import test from 'node:test'
import { isSigned } from './signature.ts'

const token = 'secret'
const sign = (url: string) => createHmac('sha1', token).update(url).digest('base64')

test('isSigned accepts a signature of the URL with or without a trailing slash', () => {
  for (const url of ['wss://calls.example.com/a', 'wss://calls.example.com/a?x=1']) {
    assert.ok(isSigned(url, { token, given: sign(url) }))
    assert.ok(isSigned(url.replace('/a', '/a/'), { token, given: sign(url) }))
    assert.ok(isSigned(url, { token, given: sign(url.replace('/a', '/a/')) }))
  }
})

test('isSigned rejects signatures of another URL or token', () => {
  const url = 'wss://calls.example.com/a'
  const wrong = ['', 'x', sign(`${url}?x=1`), sign('wss://other.example.com/a'), `${sign(url)}=`]
  for (const given of wrong) assert.ok(!isSigned(url, { token, given }), given)
  assert.ok(!isSigned(url, { token: 'other', given: sign(url) }))
})
