import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexVocabulary } from './entries.ts'

/** Returns the threshold of an entry of intensity 0.5 in speech of a language. */
function thresholdOf(value: string, language = 'en', pronunciation?: string): number | undefined {
  const entry = pronunciation === undefined ? { value } : { value, language: pronunciation }
  return indexVocabulary({ vocabulary: [entry] }, language).threshold || undefined
}

test('the threshold decreases for short entries', () => {
  assert.equal(thresholdOf('Kubernetes'), 0.25)
  assert.equal(thresholdOf('Gladia'), 0.25 * 0.8)
  assert.equal(thresholdOf('Loki'), 0.25 * 0.5)
  assert.equal(thresholdOf('Ai'), undefined)
})

test('the threshold is lower for coarse phonetics, undefined without phonetics', () => {
  assert.equal(thresholdOf('Kubernetes', 'de'), 0.25 * 0.7)
  assert.equal(thresholdOf('Kubernetes', 'en', 'de'), 0.25 * 0.7)
  assert.equal(thresholdOf('Kubernetes', 'fi'), undefined)
})

test('an entry with too many words is ignored', () => {
  const { byLetters, maxWords } = indexVocabulary({ vocabulary: ['la '.repeat(9)] }, 'en')
  assert.deepEqual([byLetters.size, maxWords], [0, 1])
})

test('an entry without letters is ignored with its pronunciations', () => {
  const vocabulary = [{ value: '…', pronunciations: ['elastic'] }]
  assert.equal(indexVocabulary({ vocabulary }, 'en').byLetters.size, 0)
})
