import assert from 'node:assert/strict'
import test from 'node:test'
import { breakPenalty } from './break-penalty.ts'
import { splitChunks } from './caption-chunks.ts'

/**
 * Returns the penalty of a break after the first of two words, with seconds of silence between
 * them.
 */
function penalty(text: string, { pause = 0, language = 'en' } = {}): number {
  const words = [
    { text, start: 0, end: 1, confidence: 1 },
    { text: 'next', start: 1 + pause, end: 3 + pause, confidence: 1 },
  ]
  const [last, next] = splitChunks({ channel: 0, language, words })
  return breakPenalty(last!, next)
}

for (const [after, words, expected] of [
  ['a sentence', ['end.', 'end?', 'end!”', '完。', 'تمام؟'], 0],
  ['a comma', ['well,', 'so:', '那，', 'نعم،'], 0.3],
  ['any word', ['word', 'theory'], 0.8],
  ['a word that leans on the next', ['the', 'Of', 'her'], 1.2],
] as const) {
  test(`a break after ${after} costs ${expected}`, () => {
    for (const word of words) assert.equal(penalty(word), expected, word)
  })
}

test('only function words of the language penalize a break', () => {
  assert.equal(penalty('on', { language: 'fr' }), 0.8)
})

test('a pause lowers the penalty by its seconds, down to zero', () => {
  assert.equal(penalty('word', { pause: 0.5 }).toFixed(3), '0.300')
  assert.equal(penalty('word', { pause: 5 }), 0)
})

test('a break after the last word costs nothing', () => {
  const words = [{ text: 'the', start: 0, end: 1, confidence: 1 }]
  assert.equal(breakPenalty(splitChunks({ channel: 0, language: 'en', words })[0]!, undefined), 0)
})
