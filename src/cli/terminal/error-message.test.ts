import assert from 'node:assert/strict'
import test from 'node:test'
import { messageOf } from './error-message.ts'

test('messageOf reports the original error rather than the failed close', () => {
  const away = new Error('Cannot reach the database')
  assert.equal(messageOf(new SuppressedError(new Error('closing'), away)), away.message)
  assert.equal(messageOf('text'), 'text')
})
