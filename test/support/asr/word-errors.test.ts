import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparableWords, wordErrors } from './word-errors.ts'

test('case, punctuation, fillers and the spelling of digits do not count as errors', () => {
  const reference = "Well, um, that's nine one oh."
  assert.deepEqual(wordErrors(reference, "well that's 910"), { errors: 0, referenceWords: 5 })
})

test('substitutions, deletions and insertions count as one error each', () => {
  assert.equal(wordErrors('a b c d', 'a x c d').errors, 1)
  assert.equal(wordErrors('a b c d', 'a c d').errors, 1)
  assert.equal(wordErrors('a b c d', 'a b b c d').errors, 1)
  assert.equal(wordErrors('a b c d', '').errors, 4)
})

test('words of other scripts are kept whole', () => {
  assert.deepEqual(comparableWords('Größe, çok – да!'), ['größe', 'çok', 'да'])
})
