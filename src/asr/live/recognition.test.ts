import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledWords } from './recognition.ts'

/** Words of 0.4 s with a confidence each, heard in `seconds` of sound; the first `agreed` were heard before. */
function settled(
  confidences: number[],
  { seconds, agreed = 0 }: { seconds: number; agreed?: number },
) {
  const words = confidences.map((confidence, i) => {
    return { text: `w${i}`, start: i * 0.4, end: (i + 1) * 0.4, confidence }
  })
  const heard = { words, agreed, language: 'en', logProbability: -0.1, tokens: [] }
  return settledWords(heard, seconds).map((word) => word.text)
}

test('a partial shows words that lie behind the end of the sound', () => {
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 2 }), ['w0', 'w1', 'w2'])
})

test('a partial leaves out a last word that may be half a word, unless it was heard before', () => {
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 1.2 }), ['w0', 'w1'])
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 1.2, agreed: 3 }), ['w0', 'w1', 'w2'])
})

test('a partial stops at a late word that the model is not sure of', () => {
  assert.deepEqual(settled([0.9, 0.2, 0.9], { seconds: 1.7 }), ['w0'])
  assert.deepEqual(settled([0.9, 0.2, 0.9], { seconds: 2.5 }), ['w0', 'w1', 'w2'])
})

test('a first word is shown early, but not a guess', () => {
  assert.deepEqual(settled([0.4], { seconds: 0.4 }), ['w0'])
  assert.deepEqual(settled([0.1], { seconds: 0.4 }), [])
})
