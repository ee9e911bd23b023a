import assert from 'node:assert/strict'
import test from 'node:test'
import { createAddressGuard } from './address-guard.ts'
import { AddressRefusedError, checkUrl } from './check-url.ts'

/** The reason why a URL is refused; undefined when it is allowed. */
function refusal(url: string, allowed: readonly string[] = []): string | undefined {
  try {
    checkUrl(new URL(url), createAddressGuard(allowed))
    return undefined
  } catch (error) {
    assert.ok(error instanceof AddressRefusedError)
    return error.message
  }
}

test('only http and https URLs are accepted', () => {
  assert.equal(refusal('ftp://8.8.8.8/'), 'the scheme ftp: is not http or https')
  assert.equal(refusal('file:///etc/passwd'), 'the scheme file: is not http or https')
  assert.equal(refusal('http://8.8.8.8/'), undefined)
  assert.equal(refusal('https://a.example/'), undefined)
})

test('a private address in the URL is rejected in any notation', () => {
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.1',
    '[::1]',
    '[::ffff:10.0.0.1]',
  ]) {
    assert.equal(refusal(`http://${host}/`), 'it is not a public address', host)
  }
})

test('a host that the operator allowed is accepted', () => {
  assert.equal(refusal('http://10.0.0.1/', ['10.0.0.1']), undefined)
  assert.equal(refusal('http://10.0.0.2/', ['10.0.0.0/8']), undefined)
})
