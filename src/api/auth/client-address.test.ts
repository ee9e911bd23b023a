import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import test from 'node:test'
import { clientAddressOf, networkOf } from './client-address.ts'

function addressOf(forwarded: string | undefined, { trustProxy = true, remote = '10.0.0.1' } = {}) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  const request = { headers, socket: { remoteAddress: remote } } as unknown as IncomingMessage
  return clientAddressOf(request, { trustProxy })
}

test('behind a trusted proxy the client address is the last one in X-Forwarded-For', () => {
  assert.equal(addressOf('192.0.2.1'), '192.0.2.1')
  assert.equal(addressOf('203.0.113.9, 192.0.2.1'), '192.0.2.1')
  assert.equal(addressOf('192.0.2.1:5060'), '192.0.2.1')
  assert.equal(addressOf('[2001:db8::1]:5060'), '2001:db8::1')
  assert.equal(addressOf('2001:db8::1'), '2001:db8::1')
})

test('an invalid X-Forwarded-For, or any without a trusted proxy, is ignored', () => {
  for (const text of [undefined, '', 'nobody', '192.0.2.1, x', '1.2.3', 'x'.repeat(9999)]) {
    assert.equal(addressOf(text), '10.0.0.1', text)
  }
  assert.equal(addressOf('192.0.2.1', { trustProxy: false }), '10.0.0.1')
  assert.equal(addressOf(undefined, { remote: '::ffff:192.0.2.7' }), '192.0.2.7')
})

test('IPv6 addresses of one /64 network count as one client', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(networkOf('2001:0DB8:1:2::9'), '2001:db8:1:2::/64')
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
})
