import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warnOfLowConfidence } from './low-confidence.ts'

const words = (count: number, confidence: number) => {
  return { confidences: Array.from({ length: count }, () => confidence) }
}

test('mostly low confidence yields a warning with the mean', () => {
  assert.deepEqual(warnOfLowConfidence(words(20, 0.214)), [
    'The recognizer was unsure of most words (mean confidence 0.21). Is the recording in a language that it does not know, or very noisy?',
  ])
})

test('high confidence yields no warning, and few words need to be lower than many', () => {
  assert.deepEqual(warnOfLowConfidence(words(20, 0.65)), [])
  assert.equal(warnOfLowConfidence(words(14, 0.54)).length, 1)
  assert.deepEqual(warnOfLowConfidence(words(2, 0.35)), [])
  assert.equal(warnOfLowConfidence(words(2, 0.2)).length, 1)
  assert.deepEqual(warnOfLowConfidence(words(5, 0.5)), [])
  assert.equal(warnOfLowConfidence(words(100, 0.5)).length, 1)
})

test('speech without words yields a warning, silence does not', () => {
  assert.match(warnOfLowConfidence({ confidences: [], uncovered: 8.9 })[0]!, /no words in 9 s/)
  assert.deepEqual(warnOfLowConfidence({ confidences: [], uncovered: 0.5 }), [])
  assert.deepEqual(warnOfLowConfidence(words(5, 0.9)), [])
})
