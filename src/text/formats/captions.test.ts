import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Utterance } from '../../transcript/transcript.ts'
import { cutCaptions } from './captions.ts'

/** Each word takes half a second, `_` one more half second of silence. */
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
  return cutCaptions([utterance(text, language)]).map((caption) => caption.rows.join('|'))
}

test('a caption ends with its utterance though the next one would fit', () => {
  const captions = cutCaptions([utterance('one two'), utterance('three')])
  assert.deepEqual(
    captions.map((caption) => caption.rows),
    [['one two'], ['three']],
  )
})

test('a caption stands from its first word to the end of its last', () => {
  const [caption] = cutCaptions([utterance('_ one two')])
  assert.deepEqual([caption?.start, caption?.end], [0.5, 1.5])
})

test('rows of one caption have about the same length', () => {
  assert.deepEqual(rows('this is a caption that needs two rows of its own'), [
    'this is a caption that|needs two rows of its own',
  ])
})

test('a long utterance is cut after a sentence rather than in the middle', () => {
  assert.deepEqual(rows('a b c d. e f g h i j k l m n o p'), [
    'a b c d.',
    'e f g h i j k l m n o p',
  ])
})

test('a comma is the next best place', () => {
  assert.deepEqual(rows('a b c d, e f g h i j k l m n o p'), [
    'a b c d,',
    'e f g h i j k l m n o p',
  ])
})

test('without punctuation a pause is the place', () => {
  assert.deepEqual(rows('a b c d _ _ e f g h i j k l m'), ['a b c d', 'e f g h i j k l m'])
})

test('without punctuation or pause both captions are of one size', () => {
  const words = Array.from({ length: 16 }, () => 'word').join(' ')
  assert.deepEqual(
    cutCaptions([utterance(words)]).map((caption) => caption.end - caption.start),
    [4, 4],
  )
})

test('an utterance longer than seven seconds is cut though its text would fit', () => {
  const captions = cutCaptions([utterance('a b c d e f g h i j k l m n o p')])
  assert.ok(captions.length === 2 && captions.every(({ start, end }) => end - start <= 7))
})

test('a word that lasts longer than a caption may keeps its start and is shortened', () => {
  const word = { text: 'aaah', start: 1, end: 20, confidence: 1 }
  const captions = cutCaptions([{ channel: 0, language: 'en', words: [word] }])
  assert.deepEqual(captions, [{ start: 1, end: 8, rows: ['aaah'] }])
})

test('a word longer than a row is not broken', () => {
  const long = 'x'.repeat(50)
  assert.deepEqual(rows(`a ${long} b`), ['a', long, 'b'])
})

test('languages without blanks are joined without blanks', () => {
  assert.deepEqual(rows('你 好', 'zh'), ['你好'])
})

test('silence has no captions', () => {
  assert.deepEqual(cutCaptions([]), [])
  assert.deepEqual(cutCaptions([{ channel: 0, language: 'en', words: [] }]), [])
})

test('whatever the words and limits, none is lost and every limit is kept', () => {
  const word = fc.tuple(fc.stringMatching(/^[a-z]{1,12}[.,]?$/), fc.nat(30), fc.nat(20))
  const limits = fc.record({
    maxDuration: fc.integer({ min: 3, max: 30 }),
    maxCharactersPerRow: fc.integer({ min: 13, max: 60 }),
    maxRows: fc.integer({ min: 1, max: 5 }),
  })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), limits, (parts, limits) => {
      let clock = 0
      const words = parts.map(([text, length, pause]) => {
        const start = clock + pause
        clock = start + length
        return { text, start: start / 10, end: clock / 10, confidence: 1 }
      })
      const captions = cutCaptions([{ channel: 0, language: 'en', words }], limits)
      const text = captions.flatMap((caption) => caption.rows).join(' ')
      assert.equal(text, words.map((w) => w.text).join(' '))
      for (const { start, end, rows } of captions) {
        assert.ok(rows.length <= limits.maxRows && end - start <= limits.maxDuration + 1e-9)
        assert.ok(rows.every((row) => row.length <= limits.maxCharactersPerRow))
      }
      for (const [i, caption] of captions.entries()) {
        assert.ok(i === 0 || caption.start >= captions[i - 1]!.end)
      }
    }),
  )
})
