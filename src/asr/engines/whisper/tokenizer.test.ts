import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenizer } from './tokenizer.ts'

/** A few pieces in the writing of GPT-2, where `Ġ` is a space and `ä½łå¥½` is 你好 as bytes. */
const vocabulary = [
  ...['h', 'e', 'l', 'o', ',', 'Ġ', 'w', 'r', 'd', '.', 'Ġw', 'el', 'lo', 'h', 'hello'],
  ...['Ġworld', 'ä½', 'ł', 'å¥½', 'Ġ"', '"', '-', 'ld', 'Ã', '©', 'he', 'hel', 'ãĢĤ', 'or'],
  '<|endoftext|>',
]
const end = vocabulary.indexOf('<|endoftext|>')
const tokenizer = createTokenizer(vocabulary, { tokens: { end } as never })
const ids = (...pieces: string[]) => pieces.map((piece) => vocabulary.indexOf(piece))
const textsOf = (tokens: number[], language: string) =>
  tokenizer.wordsOf(tokens, language).map(({ text }) => text)

test('bytes of a character join across tokens', () => {
  assert.equal(tokenizer.textOf(ids('hello', 'Ġ', 'Ã', '©')), 'hello é')
  assert.equal(tokenizer.textOf(ids('ä½', 'ł', 'å¥½')), '你好')
})

test('special tokens and incomplete characters produce no text', () => {
  assert.equal(tokenizer.textOf([end, ...ids('hello', 'Ã')]), 'hello')
})

test('words start at spaces and include adjacent punctuation', () => {
  const tokens = ids('hello', ',', 'Ġ"', 'w', 'or', 'ld', '.', '"', 'Ġworld')
  assert.deepEqual(tokenizer.wordsOf(tokens, 'en'), [
    { text: 'hello,', first: 0, last: 1 },
    { text: ' "world."', first: 2, last: 7 },
    { text: ' world', first: 8, last: 8 },
  ])
})

test('text without a space is one word', () => {
  assert.deepEqual(textsOf(ids('hello', '-', 'w', 'or', 'ld', 'Ġworld'), 'fr'), [
    'hello-world',
    ' world',
  ])
})

test('languages without spaces are split at characters', () => {
  const tokens = ids('ä½', 'ł', 'å¥½', 'ãĢĤ', 'hello')
  assert.deepEqual(textsOf(tokens, 'zh'), ['你', '好。', 'hello'])
  assert.deepEqual(textsOf(ids('hello', 'Ġworld'), 'ja'), ['hello', ' world'])
})

test('encode applies the merges with the lowest ranks first', () => {
  assert.deepEqual(tokenizer.encode('hello world'), ids('hello', 'Ġw', 'or', 'ld'))
  assert.deepEqual(tokenizer.encode('é'), ids('Ã', '©'))
})
