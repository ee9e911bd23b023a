import assert from 'node:assert/strict'
import test from 'node:test'
import { maskCredentials } from './mask-credentials.ts'

const addresses: [address: string, shown: string][] = [
  ['https://me:pw@a.example/x?y', 'https://***@a.example/x?y'],
  ['https://:pw@a.example/', 'https://***@a.example/'],
  ['https://token@a.example/', 'https://***@a.example/'],
  ['HTTPS://a.example/x@y', 'HTTPS://a.example/x@y'],
  ['no address', 'no address'],
]

for (const [address, shown] of addresses) {
  test(`${address} is shown as ${shown}`, () => {
    assert.equal(maskCredentials(address), shown)
  })
}
