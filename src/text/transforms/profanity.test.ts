import assert from 'node:assert/strict'
import test from 'node:test'
import { maskProfanity } from './profanity.ts'

function masked(text: string, language = 'en'): string {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: 1 }
  })
  const { utterances } = maskProfanity({ utterances: [{ channel: 0, language, words }] })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}

test('swear words keep their first letter and punctuation', () => {
  assert.equal(
    masked('Damn, what the hell is this bullshit?'),
    'D***, what the h*** is this b*******?',
  )
})

test('parts of words, harmless phrases and other languages are kept', () => {
  assert.equal(
    masked('Scunthorpe is a classic pain in the neck.'),
    'Scunthorpe is a classic pain in the neck.',
  )
  assert.equal(masked('Damn', 'de'), 'Damn')
})
