import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProviderResponse } from './provider-response.ts'

/** Writes words as `text start-end`. */
function wordsOf(body: unknown, seconds = 10): string[] {
  const { words } = parseProviderResponse(JSON.stringify(body), seconds)!
  return words.map(({ text, start, end }) => {
    return `${text} ${Number(start.toFixed(2))}-${Number(end.toFixed(2))}`
  })
}

const word = (text: string, start: unknown, end: unknown) => ({ word: text, start, end })

test('words keep their times and get the punctuation of the text', () => {
  const body = {
    text: ' Hello, world! ¿Qué tal? "It\'s 5%."',
    words: [
      ...[word('hello', 0, 0.5), word('world', 0.5, 1), word('Qué', 1.5, 2), word('tal', 2, 2.5)],
      ...[word("It's", 3, 3.5), word('5', 3.5, 4)],
    ],
  }
  assert.deepEqual(wordsOf(body), [
    ...['Hello, 0-0.5', 'world! 0.5-1', '¿Qué 1.5-2', 'tal? 2-2.5', '"It\'s 3-3.5', '5%." 3.5-4'],
  ])
})

test('words that the text does not contain are kept unchanged', () => {
  const body = { text: 'Something else', words: [word('hello', 0, 0.5), word('world', 0.5, 1)] }
  assert.deepEqual(wordsOf(body), ['hello 0-0.5', 'world 0.5-1'])
})

test('invalid word times are interpolated between their neighbors', () => {
  const body = {
    text: 'one two three four five',
    words: [
      ...[word('one', -3, 0.5), word('two', 1, 4), word('three', 900, 901), word('four', 3, 2)],
      word('five', null, 'x'),
    ],
  }
  const words = parseProviderResponse(JSON.stringify(body), 5)!.words
  assert.deepEqual(
    words.map(({ text }) => text),
    ['one', 'two', 'three', 'four', 'five'],
  )
  let before = 0
  for (const { start, end } of words) {
    assert.ok(start >= before && end > start && end <= 5, JSON.stringify(words))
    before = end
  }
  assert.equal(words[1]!.start, 1)
  assert.ok(Math.abs(words[3]!.start - 3) < 0.2)
})

test('segments that overlap, or have no times, give words in order and apart', () => {
  for (const segments of [
    [{ text: 'one two' }, { text: 'three' }],
    [
      { text: 'one two', start: 2, end: 6 },
      { text: 'three', start: 1, end: 5 },
    ],
  ]) {
    const { words } = parseProviderResponse(
      JSON.stringify({ text: 'one two three', segments }),
      10,
    )!
    assert.deepEqual(
      words.map(({ text }) => text),
      ['one', 'two', 'three'],
    )
    for (const [i, { start, end }] of words.entries()) {
      assert.ok(start >= (words[i - 1]?.end ?? 0) && end >= start && end <= 10)
    }
  }
})

test('without word times the words are spread over their segment by length', () => {
  const segments = [
    { text: ' aa bbbb', start: 1, end: 4, avg_logprob: Math.log(0.5) },
    { text: ' cc', start: 6, end: 7 },
  ]
  assert.deepEqual(wordsOf({ text: 'aa bbbb cc', segments }), ['aa 1-2', 'bbbb 2-4', 'cc 6-7'])
  const response = parseProviderResponse(JSON.stringify({ text: 'aa bbbb cc', segments }), 10)!
  assert.equal(response.hasWordTimes, false)
  assert.deepEqual(
    response.words.map(({ confidence }) => confidence),
    [0.5, 0.5, 0.8],
  )
})

test('a text without segments is spread over the audio', () => {
  assert.deepEqual(wordsOf({ text: 'aa bb' }, 4), ['aa 0-2', 'bb 2-4'])
})

test('a text in a script without spaces is spread by its characters', () => {
  assert.deepEqual(wordsOf({ text: '他说：「你好。」 OK 한국어 다' }, 6), [
    ...['他 0-0.43', '说： 0.43-1.29', '「你 1.29-2.14', '好。」 2.14-3.43', 'OK 3.43-4.29'],
    ...['한국어 4.29-5.57', '다 5.57-6'],
  ])
})

test('words nested in segments are read with their probabilities', () => {
  const words = [{ word: ' hi', start: 0, end: 1, probability: 0.3 }]
  const response = parseProviderResponse(
    JSON.stringify({ text: 'hi', segments: [{ text: 'hi', start: 0, end: 1, words }] }),
    2,
  )!
  assert.deepEqual([response.hasWordTimes, response.words[0]!.confidence], [true, 0.3])
})

test('hallucinated text in silence, and more text than the audio can hold, is dropped', () => {
  const segments = [
    { text: 'Real.', start: 0, end: 2, avg_logprob: -0.2, no_speech_prob: 0.1 },
    { text: 'Thank you.', start: 3, end: 5, avg_logprob: -1.3, no_speech_prob: 0.9 },
  ]
  assert.deepEqual(wordsOf({ text: 'Real. Thank you.', segments }), ['Real. 0-2'])
  assert.deepEqual(wordsOf({ text: 'la '.repeat(500) }, 2), [])
  assert.deepEqual(wordsOf({ text: ' ... ' }, 2), [])
})

test('too many words or segments for the audio are dropped as a loop', () => {
  const words = Array.from({ length: 300 }, (_, i) => word('la', i / 30, i / 30))
  const segments = words.map(({ word: text, ...times }) => ({ text, ...times }))
  for (const flood of [{ words }, { segments }, { words, segments }, { text: 'la '.repeat(300) }]) {
    const response = parseProviderResponse(JSON.stringify({ text: 'la', ...flood }), 10)!
    assert.deepEqual([response.words, response.hasWordTimes], [[], undefined])
  }
})

test('a response without a transcription is undefined, and silence is an empty list', () => {
  for (const body of ['<html>', '', '[]', 'null', '{"text":5}', '{"error":{}}']) {
    assert.equal(parseProviderResponse(body, 5), undefined, body)
  }
  assert.deepEqual(parseProviderResponse('{"text":""}', 5)!.words, [])
  assert.deepEqual(
    parseProviderResponse('{"text":"a","segments":7,"words":[null,3,{}]}', 5)!.words.length,
    1,
  )
})
