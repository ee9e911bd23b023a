import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentTerms } from './terms.ts'

test('termsOf drops English stop words, possessives and plurals', () => {
  assert.deepEqual(contentTerms("We've seen the budgets of Ann's two companies.", 'en'), [
    'seen',
    'budget',
    'ann',
    'two',
    'company',
  ])
})

test('termsOf keeps words that only look like plurals', () => {
  assert.deepEqual(contentTerms('glass bus analysis', 'en'), ['glass', 'bus', 'analysis'])
})

test('termsOf keeps all words of other languages and segments those without spaces', () => {
  assert.deepEqual(contentTerms('Das Dach leckt.', 'de'), ['das', 'dach', 'leckt'])
  assert.deepEqual(contentTerms('倉庫の屋根', 'ja'), ['倉庫', 'の', '屋根'])
})

test('termsOf segments text with an invalid language code by root rules', () => {
  assert.deepEqual(contentTerms('one two', '??'), ['one', 'two'])
})
