import assert from 'node:assert/strict'
import { test } from 'node:test'
import llamaTokenizer from 'llama-tokenizer-js'
import { tokensToText } from './tokens.ts'
import { groupTokensIntoWords } from './words.ts'

/** Ids of pieces written with `_` for a space. */
function ids(...pieces: string[]): number[] {
  return pieces.map((piece) => llamaTokenizer.vocabById.lastIndexOf(piece.replace('_', '\u2581')))
}

test('tokens join into words, and the pause after punctuation is not part of the word', () => {
  const tokens = ids('_Hel', 'lo', ',', '_world', '.')
  const words = groupTokensIntoWords(tokens, [0, 0.2, 0.5, 1.4, 1.8, 2])
  assert.deepEqual(
    words.map(({ text, start, end }) => ({ text, start, end })),
    [
      { text: 'Hello,', start: 0, end: 0.5 },
      { text: 'world.', start: 1.4, end: 1.8 },
    ],
  )
})

test('lone punctuation joins the word before it', () => {
  const words = groupTokensIntoWords(ids('_wait', '_-', '_here'), [0, 0.5, 0.6, 1])
  assert.deepEqual(
    words.map((word) => word.text),
    ['wait-', 'here'],
  )
})

test('a quotation mark that opens after the last word is left out', () => {
  const starts = [0, 0.2, 0.5, 0.6, 1, 1.2, 1.4]
  const wordTexts = (...pieces: string[]) =>
    groupTokensIntoWords(ids(...pieces), starts).map(({ text }) => text)
  assert.deepEqual(wordTexts('_said', ',', '_"'), ['said,'])
  assert.deepEqual(wordTexts('_said', ',', '_"', 'wait'), ['said,', '"wait'])
  assert.deepEqual(wordTexts('_"', 'wait', '_"'), ['"wait"'], 'it closes')
  assert.deepEqual(wordTexts('_wait', '."'), ['wait."'])
})

test('symbols alone, such as music notes, form no word', () => {
  const notes = [0xe2, 0x99, 0xaa].map((byte) => byte + 3)
  const starts = Array.from({ length: 12 }, (_, i) => i / 10)
  const wordTexts = (...tokens: number[]) =>
    groupTokensIntoWords(tokens, starts).map(({ text }) => text)
  assert.deepEqual(wordTexts(...ids('_'), ...notes, ...notes), [])
  assert.deepEqual(wordTexts(...ids('_ok', '_'), ...notes, ...ids('_here')), ['ok', 'here'])
  assert.deepEqual(wordTexts(...ids('_ok'), 0xc3 + 3, 0xa9 + 3), ['oké'])
})

test('byte tokens form UTF-8 characters', () => {
  assert.equal(tokensToText([0xc3 + 3, 0xa9 + 3, ...ids('_ok')]), 'é ok')
})

test('special tokens and incomplete characters produce no text', () => {
  assert.equal(tokensToText([1, 2, 32_100, 0xc3 + 3, ...ids('_ok')]), 'ok')
})
