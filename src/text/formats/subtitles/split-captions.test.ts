import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../../transcript/transcript.ts'
import { type CaptionLimits, splitCaptions } from './split-captions.ts'

/**
 * Returns an utterance in which each word takes half a second, and `_` is another half second of
 * silence.
 */
function utterance(text: string, language = 'en'): Utterance {
  const words: Utterance['words'] = []
  let tick = 0
  for (const part of text.split(' ')) {
    if (part === '_') tick++
    else words.push({ text: part, start: tick / 2, end: ++tick / 2, confidence: 1 })
  }
  return { channel: 0, language, words }
}

function rows(text: string, language?: string): string[] {
  return splitCaptions([utterance(text, language)]).map((caption) => caption.rows.join('|'))
}

function cutRows(text: string, limits: Partial<CaptionLimits>): string[] {
  return splitCaptions([utterance(text)], limits).map((caption) => caption.rows.join('|'))
}

test('a caption ends with its utterance even if the next one would fit', () => {
  const captions = splitCaptions([utterance('one two'), utterance('three')])
  assert.deepEqual(
    captions.map((caption) => caption.rows),
    [['one two'], ['three']],
  )
})

test('a caption lasts from its first word to the end of its last', () => {
  const [caption] = splitCaptions([utterance('_ one two')])
  assert.deepEqual([caption?.start, caption?.end], [0.5, 1.5])
})

test('rows of a caption are of similar length', () => {
  assert.deepEqual(rows('this is a caption that needs two rows of its own'), [
    'this is a caption that|needs two rows of its own',
  ])
})

test('a long utterance is split after a sentence rather than in the middle', () => {
  assert.deepEqual(rows('a b c d. e f g h i j k l m n o p'), [
    'a b c d.',
    'e f g h i j k l m n o p',
  ])
})

test('an abbreviation before a name is no sentence end to split at', () => {
  const text = 'I spoke to Dr. Patel at St. Mary Hospital about it, and I take it. No more.'
  assert.deepEqual(cutRows(text, { maxDuration: 5 }), [
    'I spoke to Dr. Patel at St. Mary Hospital',
    'about it, and I take it. No more.',
  ])
  assert.deepEqual(cutRows('We live on Main St. The house is big and is old', { maxDuration: 4 }), [
    'We live on Main St.',
    'The house is big and is old',
  ])
})

test('without a sentence end an utterance is split at a comma', () => {
  assert.deepEqual(rows('a b c d, e f g h i j k l m n o p'), [
    'a b c d,',
    'e f g h i j k l m n o p',
  ])
})

test('without punctuation an utterance is split at a pause', () => {
  assert.deepEqual(rows('a b c d _ _ e f g h i j k l m'), ['a b c d', 'e f g h i j k l m'])
})

test('without punctuation or pause captions are of equal length', () => {
  const words = Array.from({ length: 16 }, () => 'word').join(' ')
  assert.deepEqual(
    splitCaptions([utterance(words)]).map((caption) => caption.end - caption.start),
    [4, 4],
  )
})

test('an utterance longer than seven seconds is split even if its text fits', () => {
  const captions = splitCaptions([utterance('a b c d e f g h i j k l m n o p')])
  assert.ok(captions.length === 2 && captions.every(({ start, end }) => end - start <= 7))
})

test('a word longer than the maximum duration keeps its start and is shortened', () => {
  const word = { text: 'aaah', start: 1, end: 20, confidence: 1 }
  const captions = splitCaptions([{ channel: 0, language: 'en', words: [word] }])
  assert.deepEqual(captions, [{ start: 1, end: 8, rows: ['aaah'] }])
})

test('a word longer than a row is not split', () => {
  const long = 'x'.repeat(50)
  assert.deepEqual(rows(`a ${long} b`), ['a', long, 'b'])
})

test('languages without spaces are joined without spaces', () => {
  assert.deepEqual(rows('你 好', 'zh'), ['你好'])
})

test('a transcript without speech has no captions', () => {
  assert.deepEqual(splitCaptions([]), [])
  assert.deepEqual(splitCaptions([{ channel: 0, language: 'en', words: [] }]), [])
})

test('columns count grapheme clusters, wide ones as two', () => {
  const limits = { maxCharactersPerRow: 4, maxRows: 1 }
  const accents = 'e\u0301e\u0301e\u0301e\u0301'
  assert.deepEqual(cutRows(accents, limits), [accents])
  assert.deepEqual(cutRows('한국 한국', limits), ['한국', '한국'])
})

test('a word longer than a row is split if allowed', () => {
  const limits = { maxCharactersPerRow: 4, maxRows: 2, maxWordColumns: 4 }
  assert.deepEqual(cutRows('a bcdefghijk', limits), ['a|bcde', 'fghi|jk'])
})

test('a short caption is extended to the minimum, with the gap before the next one', () => {
  const limits = { minDuration: 1.2, minGap: 0.08 }
  const captions = splitCaptions([utterance('one'), utterance('_ _ two')], limits)
  assert.deepEqual(
    captions.map(({ start, end }) => [start, end]),
    [
      [0, 0.92],
      [1, 2.2],
    ],
  )
})

test('captions of simultaneous channels are sorted by start', () => {
  const second = { ...utterance('_ _ _ three four'), channel: 1 }
  const captions = splitCaptions([second, utterance('one two three four five')])
  assert.deepEqual(
    captions.map(({ start, end, rows }) => [start, end, rows.join()]),
    [
      [0, 1.5, 'one two three four five'],
      [1.5, 2.5, 'three four'],
    ],
  )
})

test('ten thousand words with equal times are processed in limited time', () => {
  const words = Array.from({ length: 9000 }, () => ({ text: 'a', start: 0, end: 0, confidence: 1 }))
  const limits = { maxCharactersPerRow: 1_000_000, maxDuration: 30 }
  const captions = splitCaptions([{ channel: 0, language: 'en', words }], limits)
  assert.equal(captions.length, 30)
})
