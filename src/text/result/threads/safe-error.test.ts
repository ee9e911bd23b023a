import assert from 'node:assert/strict'
import test from 'node:test'
import { toSafeError } from './safe-error.ts'

test('toSafeError returns the error name and at most ten frames', () => {
  const deep = (left: number): Error => (left > 0 ? deep(left - 1) : new RangeError('my card'))
  const { name, frames } = toSafeError(deep(20))
  assert.equal(name, 'RangeError')
  assert.ok(frames.length <= 10)
  assert.match(frames[0]!, /^ {4}at .*safe-error\.test\.ts:\d+:\d+\)$/)
})

test('toSafeError never reveals the message', () => {
  const secret = 'my card\n    at 4242:42:42)\nis mine'
  const changed = new Error(secret)
  changed.message = 'something else'
  const renamed = new Error('fine')
  renamed.name = secret
  const thrown = [new Error(secret), new TypeError(secret), changed, renamed, secret, undefined]
  for (const error of thrown) assert.doesNotMatch(JSON.stringify(toSafeError(error)), /card|4242/)
})
