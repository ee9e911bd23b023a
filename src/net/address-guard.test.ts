import assert from 'node:assert/strict'
import test from 'node:test'
import { createAddressGuard } from './address-guard.ts'

const refused = [
  '127.0.0.1 127.255.0.1 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1',
  '169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1',
  '224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.88.99.1',
  ':: ::1 fe80::1 fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 100::1',
  '::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 ::7f00:1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1',
  '2002:7f00:1:: 2001::1 2001:10::1 5f00::1 3fff::1 4000::1 fe80::1%lo not-an-address',
].flatMap((line) => line.split(' '))

test('the guard rejects every address that is not public', () => {
  const guard = createAddressGuard([])
  assert.deepEqual(
    refused.filter((address) => guard.allowsAddress(address)),
    [],
  )
})

test('the guard allows public addresses', () => {
  const guard = createAddressGuard([])
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111']) {
    assert.ok(guard.allowsAddress(address), address)
  }
})

test('allowed ranges, addresses and hosts pass, and nothing else', () => {
  const guard = createAddressGuard(['10.0.0.0/8', 'fd00::/8', '192.168.1.7', 'Store.Local'])
  for (const address of ['10.9.8.7', '::ffff:10.9.8.7', 'fd12::1', '192.168.1.7']) {
    assert.ok(guard.allowsAddress(address), address)
  }
  for (const address of ['172.16.0.1', '192.168.1.8', 'fc00::1', '127.0.0.1']) {
    assert.ok(!guard.allowsAddress(address), address)
  }
  assert.ok(guard.allowsHost('store.local'))
  assert.ok(!guard.allowsHost('store.local.example'))
})

test("'all' allows private addresses", () => {
  const guard = createAddressGuard('all')
  assert.ok(guard.allowsAddress('127.0.0.1'))
  assert.ok(guard.allowsHost('localhost'))
})
