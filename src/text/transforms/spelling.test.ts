import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applySpelling, type CustomSpellingConfig } from './spelling.ts'

type Dictionary = CustomSpellingConfig['spelling_dictionary']

/** Spells words of one second each, with falling confidence. */
function spellWords(text: string, dictionary: Dictionary, language = 'en') {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: 1 - i / 8 }
  })
  const transcript = { utterances: [{ channel: 0, language, words }] }
  return applySpelling(transcript, { spelling_dictionary: dictionary }).utterances[0]!.words
}

function spell(text: string, dictionary: Dictionary, language = 'en'): string {
  return spellWords(text, dictionary, language)
    .map((word) => word.text)
    .join(' ')
}

test('a variant in any case is replaced with its key', () => {
  assert.equal(spell('Sequel and SEQUEL', { SQL: ['sequel'] }), 'SQL and SQL')
})

test('only whole words are replaced', () => {
  assert.equal(spell('sequels unsequel sequel', { SQL: ['sequel'] }), 'sequels unsequel SQL')
})

test('punctuation around a variant and its possessive are kept', () => {
  assert.equal(
    spell('("sequel," sequel’s Sequel\'s.', { SQL: ['sequel'] }),
    '("SQL," SQL’s SQL\'s.',
  )
})

test('a curly apostrophe matches a straight one', () => {
  assert.equal(spell("I don't, I don’t", { 'do not': ['don’t'] }), 'I do not, I do not')
  assert.equal(spell('o’neill', { "O'Neill": ["o'neill"] }), "O'Neill")
})

test('the longest variant wins', () => {
  const dictionary = { New: ['new'], NYC: ['new york city'], 'N.Y.': ['new york'] }
  assert.equal(spell('new york city new york new', dictionary), 'NYC N.Y. New')
})

test('a variant does not match across punctuation', () => {
  assert.equal(spell('new, york', { NYC: ['new york'] }), 'new, york')
})

test('an incomplete longer variant does not consume its words', () => {
  assert.equal(spell('a b c', { X: ['a b d'], Y: ['b c'] }), 'a Y')
})

test('a replacement is not replaced again', () => {
  assert.equal(spell('a b', { b: ['a'], c: ['b'] }), 'b c')
})

test('of two keys with the same variant the first wins', () => {
  assert.equal(spell('a', { x: ['a'], y: ['A'] }), 'x')
})

test('a replacement of several words spans them with their mean confidence', () => {
  const [, word] = spellWords('the post gray sequel', { PostgreSQL: ['post gray sequel'] })
  assert.deepEqual(word, { text: 'PostgreSQL', start: 1, end: 4, confidence: 0.75 })
})

test('a key of several words becomes one word', () => {
  const words = spellWords('nyc', { 'New  Yorker': ['nyc'] })
  assert.deepEqual(words, [{ text: 'New Yorker', start: 0, end: 1, confidence: 1 }])
})

test('a punctuation key attaches to the word before and replaces its punctuation', () => {
  const dictionary = { '.': ['full stop', 'period'], ')': ['close paren'] }
  assert.equal(spell('Hello full stop. bye, period, now', dictionary), 'Hello. bye. now')
  assert.equal(spell('(so close paren.', dictionary), '(so)')
})

test('a sign that stands for a word stays a word', () => {
  const dictionary = { '&': ['and'], '+': ['plus'], '🙂': ['smile'] }
  assert.equal(
    spell('Salt and pepper, two plus two, smile.', dictionary),
    'Salt & pepper, two + two, 🙂.',
  )
})

test('a word with attached punctuation lasts until the punctuation was spoken', () => {
  assert.deepEqual(spellWords('a b full stop', { '.': ['full stop'] }).at(-1), {
    text: 'b.',
    start: 1,
    end: 4,
    confidence: 0.75,
  })
})

test('a punctuation key without a preceding word stands alone', () => {
  assert.equal(spell('period then', { '.': ['period'] }), '. then')
})

test('punctuation at the end of a key is not doubled', () => {
  assert.equal(spell('at acme inc. now', { 'Inc.': ['inc'] }), 'at acme Inc. now')
})

test('a variant may contain punctuation', () => {
  assert.equal(spell('c++ c c++,', { 'C plus plus': ['c++'] }), 'C plus plus c C plus plus,')
  assert.equal(spell('(.net net', { Dotnet: ['.net'] }), '(Dotnet net')
  assert.equal(spell('.net net', { Dotnet: ['.net'], Mesh: ['net'] }), 'Dotnet Mesh')
})

test('regular expression characters and property names are literal', () => {
  const dictionary = { ok: ['.*', '(a+)+$', '[', '\\'], proto: ['__proto__', 'constructor'] }
  assert.equal(spell('any (a+)+$ constructor toString', dictionary), 'any ok proto toString')
})

test('empty keys and variants are ignored', () => {
  assert.equal(spell('a b', { '': ['a'], ' ': ['b'], x: ['', ' '] }), 'a b')
})

test('composed and decomposed characters match', () => {
  assert.equal(spell('cafe\u0301 CAFÉ', { Coffee: ['café'] }), 'Coffee Coffee')
})

test('in languages without spaces a variant may span several words', () => {
  assert.equal(spell('我 在 北 京', { Peking: ['北京'] }, 'zh'), '我 在 Peking')
})

test('ten thousand adversarial entries are processed in linear time', () => {
  const entries = Array.from({ length: 10_000 }, (_, i) => [
    `K${i}`,
    [`${'a '.repeat(i % 50)}b${i}`],
  ])
  const text = `${'a '.repeat(9_000)}b9999`
  assert.ok(spell(text, Object.fromEntries(entries)).endsWith('K9999'))
})

test('the input transcript is not modified', () => {
  const words = [{ text: 'a', start: 0, end: 1, confidence: 1 }]
  const transcript = { utterances: [{ channel: 0, language: 'en', words, speaker: 3 }] }
  const before = structuredClone(transcript)
  const spelled = applySpelling(transcript, { spelling_dictionary: { b: ['a'] } })
  assert.deepEqual(transcript, before)
  assert.equal(spelled.utterances[0]?.speaker, 3)
})
