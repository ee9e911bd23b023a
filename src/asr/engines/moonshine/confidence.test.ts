import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordConfidence } from './confidence.ts'

const sure = Math.log(0.99)
const unsure = Math.log(0.4)

test('confidence increases with the probability of the word and of its segment', () => {
  assert.ok(wordConfidence([sure], -0.1) > wordConfidence([unsure], -0.1))
  assert.ok(wordConfidence([sure, sure], -0.1) > wordConfidence([sure, unsure], -0.1))
  assert.ok(wordConfidence([sure], -0.1) > wordConfidence([sure], -1))
})

test('likely words of likely segments get high confidence, unlikely ones low', () => {
  assert.ok(wordConfidence([sure], -0.05) > 0.98)
  assert.ok(wordConfidence([unsure], -0.6) < 0.3)
})

test('confidence never reaches 1', () => {
  const highest = wordConfidence([0], 0)
  assert.ok(highest < 1 && highest > 0.99)
})
