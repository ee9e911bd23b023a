import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptanceFactor } from './acceptance-thresholds.ts'
import { isCommonWord, isFunctionWord } from './common-words.ts'

function factorOf(text: string, confidence = 0.5): number {
  const words = text.split(' ').map((word) => ({
    confidence,
    hasDigit: /\d/.test(word),
    isCommon: isCommonWord(word),
    isFunctionWord: isFunctionWord(word),
  }))
  return acceptanceFactor(words)
}

test('uncommon words are not penalized', () => {
  assert.equal(factorOf('coobernetes'), 1)
  assert.equal(factorOf('market coobernetes', 1), 1)
})

test('common words need a closer match, a single one most', () => {
  assert.equal(factorOf('market'), 0.35)
  assert.equal(factorOf('market table'), 0.75)
  assert.equal(factorOf('market table', 1), 0.75 * 0.9)
})

test('a function word is penalized more at the edge than inside', () => {
  assert.equal(factorOf('the coobernetes'), 0.45)
  assert.equal(factorOf('coobernetes of'), 0.45)
  assert.equal(factorOf('coober the netes'), 0.6)
})

test('contractions and interjections are common words', () => {
  assert.deepEqual(["market's", 'yeah', 'coobernetes'].map(isCommonWord), [true, true, false])
})
