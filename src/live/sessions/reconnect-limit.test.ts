import assert from 'node:assert/strict'
import test from 'node:test'
import { ReconnectLimit } from './reconnect-limit.ts'

test('a client that reconnects too often must wait, and others need not', () => {
  let now = 0
  const comings = new ReconnectLimit({ now: () => now })
  const one = { id: 'one', account: 'a' }
  let came = 0
  while (comings.take(one)) came++
  assert.equal(came, 100)
  assert.ok(comings.take({ id: 'two', account: 'a' }))
  now += 2000
  assert.ok(comings.take(one))
  assert.ok(!comings.take(one))
})

test('the reconnect limit of an account covers all its sessions', () => {
  const comings = new ReconnectLimit({ now: () => 0 })
  let came = 0
  while (came < 1000 && comings.take({ id: `${came}`, account: 'a' })) came++
  assert.equal(came, 500)
  assert.ok(comings.take({ id: 'other', account: 'b' }))
})
