import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withConfidence } from './confidence.ts'
import { encodeHotwords, writeBpeVocabulary } from './hotwords.ts'
import { interpolateWordTimes, wordsFromSherpaText } from './words.ts'

/** Tokens one tenth of a second apart, from 0.1 s on. */
function words(tokens: string[], more: { text?: string; durations?: number[] } = {}) {
  const { text = tokens.join(''), durations = [] } = more
  const times = tokens.map((_, i) => (i + 1) / 10)
  const logProbs = tokens.map((_, i) => Math.log(1 / (i + 1)))
  return wordsFromSherpaText({ text, tokens, times, durations, logProbs }, 3)
}

function shown(found: readonly { text: string; start: number; end: number }[]) {
  return found.map(({ text, start, end }) => `${text} ${start.toFixed(1)}-${end.toFixed(1)}`)
}

test('tokens join into words at spaces, and punctuation joins the word before it', () => {
  const found = words([' Hel', 'lo', ',', ' wor', 'ld', '.'])
  assert.deepEqual(shown(found), ['Hello, 0.1-0.3', 'world. 0.4-0.6'])
  assert.deepEqual(
    found.map(({ confidence, lastToken }) => [confidence.toFixed(3), lastToken]),
    [
      ['0.750', 2],
      ['0.225', 5],
    ],
  )
})

test('spaces may be separate tokens, as in character models', () => {
  assert.deepEqual(shown(words(['д', 'а', ' ', 'и'])), ['да 0.1-0.3', 'и 0.4-0.5'])
})

test('scripts without spaces yield one word per character', () => {
  const found = words([' OK', '我们', '。', 'カー', 'と', ' new'])
  const texts = found.map(({ text }) => text)
  assert.deepEqual(texts, ['OK', '我', '们。', 'カー', 'と', 'new'])
})

test('byte tokens form one character, and unreadable tokens share the text', () => {
  assert.deepEqual(shown(words([' a', '<0xC3>', '<0xA9>'], { text: ' aé' })), ['aé 0.1-0.3'])
  assert.deepEqual(shown(words(['ƌŕ', 'şß', 'xx', 'yy'], { text: 'ab cd' })), [
    'ab 0.1-0.2',
    'cd 0.3-0.5',
  ])
})

test('token durations determine the ends of words', () => {
  const durations = [0.1, 0.05, 0.3]
  assert.deepEqual(shown(words([' a', 'b', ' c'], { durations })), ['ab 0.1-0.3', 'c 0.3-0.6'])
  const late = wordsFromSherpaText(
    { text: ' a', tokens: [' a'], times: [5], durations: [], logProbs: [] },
    3,
  )
  assert.deepEqual(shown(late), ['a 3.0-3.0'])
})

test('words without times are spread over the audio', () => {
  assert.deepEqual(shown(interpolateWordTimes(' Hello, you !', 4.5)), [
    'Hello, 0.0-2.7',
    'you! 2.7-4.5',
  ])
  assert.deepEqual(interpolateWordTimes('', 2), [])
})

test('word confidence depends on how much of the word reappears in a second text', () => {
  const of = (texts: string[]) => texts.map((text) => ({ text, start: 0, end: 1, confidence: 0 }))
  const confidences = withConfidence(of(['The', 'quick', 'fox', '我']), 'the quack, 我').map(
    ({ confidence }) => confidence.toFixed(2),
  )
  assert.deepEqual(confidences, ['0.80', '0.71', '0.20', '0.67'])
})

test('hotwords are encoded in the case and the tokens of the model', () => {
  const pieces = ['<blk>', ' NEW', ' Y', 'ORK', ' HE', '我', '们', 'AB']
  const encode = (words: string[]) => encodeHotwords(words, pieces)
  assert.equal(encode(['New York', 'we', 'xyz', 'a/b', ':ork']), 'NEW YORK')
  assert.equal(encode(['AB', '我们我', 'york']), '我们我/YORK')
  assert.equal(encode(['unknown']), undefined)
  assert.equal(writeBpeVocabulary(['<blk>', ' NEW', 'ORK']), '<blk>\t0\n\u2581NEW\t-1\nORK\t-2\n')
  assert.equal(writeBpeVocabulary(['<blk>', '我', ' ']), undefined)
})
