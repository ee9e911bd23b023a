import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRepetition } from './repetition.ts'

test('findRepetition finds a phrase repeated three times', () => {
  assert.equal(findRepetition([9, 8, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]), 6)
})

test('findRepetition ignores natural repetition', () => {
  const [no, comma, zero] = [41, 42, 43]
  assert.equal(findRepetition([no, comma, no, comma, no, comma, no]), undefined)
  assert.equal(findRepetition([zero, zero, zero, zero, zero, zero]), undefined)
  assert.equal(findRepetition([1, 2, 3, 4, 1, 2, 3, 4]), undefined)
})

test('findRepetition finds a token repeated eight times', () => {
  assert.equal(findRepetition([5, 7, 7, 7, 7, 7, 7, 7, 7]), 2)
})

test('findRepetition ignores a repetition that ended earlier', () => {
  assert.equal(findRepetition([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5]), undefined)
})
