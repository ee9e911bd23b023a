import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRepetition } from './repetition.ts'

test('a phrase said three times in a row is a loop, of which one stays', () => {
  assert.equal(findRepetition([9, 8, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]), 6)
})

test('real repetition is no loop', () => {
  const [no, comma, zero] = [41, 42, 43]
  assert.equal(findRepetition([no, comma, no, comma, no, comma, no]), undefined)
  assert.equal(findRepetition([zero, zero, zero, zero, zero, zero]), undefined)
  assert.equal(findRepetition([1, 2, 3, 4, 1, 2, 3, 4]), undefined)
})

test('one token said eight times is a loop', () => {
  assert.equal(findRepetition([5, 7, 7, 7, 7, 7, 7, 7, 7]), 2)
})

test('a phrase that ended earlier is no loop', () => {
  assert.equal(findRepetition([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5]), undefined)
})
