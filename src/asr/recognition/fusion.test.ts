import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Word } from '../../transcript/transcript.ts'
import { fuseRecognitions } from './fusion.ts'

/** Words of half a second each; `word/0.9` states a confidence, `-` leaves half a second out. */
function recognition(text: string): { words: Word[]; model: string } {
  const words = text.split(' ').flatMap((part, i) => {
    const [word = '', confidence = '0.8'] = part.split('/')
    if (word === '-' || word === '') return []
    return [{ text: word, start: i / 2, end: i / 2 + 0.4, confidence: Number(confidence) }]
  })
  return { words, model: 'any' }
}

function joinTexts(...texts: string[]): string {
  const words = fuseRecognitions(texts.map(recognition))
  return words.map(({ text }) => text).join(' ')
}

test('of two different words the more confident one wins, or the first if equal', () => {
  assert.equal(joinTexts('the black/0.4 cat', 'the blue/0.9 cat'), 'the blue cat')
  assert.equal(joinTexts('the black/0.9 cat', 'the blue/0.4 cat'), 'the black cat')
  assert.equal(joinTexts('the black cat', 'the blue cat'), 'the black cat')
})

test('two of three recognizers outvote a slightly more confident third', () => {
  assert.equal(joinTexts('a cat/0.7', 'a cap/0.6', 'a cap/0.6'), 'a cap')
  assert.equal(joinTexts('a cat/1', 'a cap/0.1', 'a cap/0.1'), 'a cat')
})

test('a word recognized by only one side is kept if it is confident', () => {
  assert.equal(joinTexts('one - three', 'one two/0.9 three'), 'one two three')
  assert.equal(joinTexts('one - three', 'one two/0.3 three'), 'one three')
  assert.equal(joinTexts('one two/0.3 three', 'one - three'), 'one three')
})

test('several words recognized by only one side are kept or dropped together', () => {
  assert.equal(joinTexts('so - - - then', 'so in/0.4 the/0.9 end/0.9 then'), 'so in the end then')
  assert.equal(joinTexts('so - - - then', 'so in/0.4 the/0.6 end/0.4 then'), 'so then')
})

test('if one side recognized nothing, only the other counts', () => {
  assert.equal(joinTexts('', 'good/0.9 morning/0.8'), 'good morning')
  assert.equal(joinTexts('good/0.9 morning/0.8', ''), 'good morning')
  assert.equal(joinTexts('', 'good/0.2 morning/0.3'), '')
  assert.equal(joinTexts('', ''), '')
  assert.deepEqual(fuseRecognitions([]), [])
})

test('case and punctuation are ignored when matching, and taken from the first', () => {
  assert.equal(joinTexts('Hello, World.', 'hello world'), 'Hello, World.')
  assert.equal(joinTexts('hello world', 'Hello, World.'), 'Hello, World.')
  assert.equal(joinTexts('Hello World', 'Hello, World.'), 'Hello World')
})

test('words that are split differently match', () => {
  assert.equal(joinTexts('an ice cream cone', 'an icecream - cone'), 'an ice cream cone')
  assert.equal(joinTexts('an icecream - Cone', 'an ice cream cone'), 'an icecream Cone')
  assert.equal(joinTexts('the E-mail', 'the e mail'), 'the E-mail')
})

test('numbers in digits and in words are not mixed', () => {
  assert.equal(
    joinTexts('route twenty/0.6 three/0.9 now', 'route 23/0.7 - now'),
    'route twenty three now',
  )
  assert.equal(joinTexts('route twenty/0.9 three/0.2 now', 'route 23/0.7 - now'), 'route 23 now')
})

test('agreement raises confidence and disagreement lowers it', () => {
  const [same, other] = fuseRecognitions([recognition('a/0.8 b/0.8'), recognition('a/0.6 c/0.6')])
  assert.ok(Math.abs(same!.confidence - (0.4 + 0.6 * 0.7)) < 1e-9)
  assert.ok(Math.abs(other!.confidence - (0.2 + 0.6 * 0.8)) < 1e-9)
})

test('a repeated word is matched by its time', () => {
  const words = fuseRecognitions([recognition('no - - - - no'), recognition('- - - - - no')])
  assert.deepEqual(
    words.map(({ start }) => start),
    [0, 2.5],
  )
  const sure = words.map(({ confidence }) => confidence > 0.8)
  assert.deepEqual(sure, [false, true])
})

test('times ascend where words of both sides overlap', () => {
  const first = { model: 'a', words: [{ text: 'one', start: 0, end: 1, confidence: 0.9 }] }
  const words = [
    { text: 'one', start: 0, end: 0.5, confidence: 0.9 },
    { text: 'two', start: 0.6, end: 0.9, confidence: 0.9 },
  ]
  const joined = fuseRecognitions([first, { model: 'b', words }])
  assert.deepEqual(
    joined.map(({ text, start, end }) => ({ text, start, end })),
    [
      { text: 'one', start: 0, end: 0.8 },
      { text: 'two', start: 0.8, end: 0.9 },
    ],
  )
})
