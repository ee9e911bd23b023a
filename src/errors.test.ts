import assert from 'node:assert/strict'
import test from 'node:test'
import { messageOf } from './errors.ts'

test('messageOf reports all errors, and the original one rather than the failed close', () => {
  const away = new Error('Cannot reach the database')
  assert.equal(messageOf(new SuppressedError(new Error('closing'), away)), away.message)
  assert.equal(messageOf(new AggregateError([away, 'text'])), `${away.message}, text`)
})
