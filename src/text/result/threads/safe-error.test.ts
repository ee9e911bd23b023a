import assert from 'node:assert/strict'
import test from 'node:test'
import { toSafeError } from './safe-error.ts'

test('a fault tells the kind of the error and where it was thrown, in ten frames at most', () => {
  const deep = (left: number): Error => (left > 0 ? deep(left - 1) : new RangeError('my card'))
  const { name, frames } = toSafeError(deep(20))
  assert.equal(name, 'RangeError')
  assert.ok(frames.length <= 10)
  assert.match(frames[0]!, /^ {4}at .*safe-error\.test\.ts:\d+:\d+\)$/)
})

test('a fault tells nothing of the message, however it is written', () => {
  const secret = 'my card\n    at 4242:42:42)\nis mine'
  const changed = new Error(secret)
  changed.message = 'something else'
  const renamed = new Error('fine')
  renamed.name = secret
  const thrown = [new Error(secret), new TypeError(secret), changed, renamed, secret, undefined]
  for (const error of thrown) assert.doesNotMatch(JSON.stringify(toSafeError(error)), /card|4242/)
})
