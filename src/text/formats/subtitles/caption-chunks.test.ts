import assert from 'node:assert/strict'
import test from 'node:test'
import { splitChunks } from './caption-chunks.ts'

/** Splits words of a second each. */
function split(
  words: string[],
  { language = 'en', splitAt }: { language?: string; splitAt?: number } = {},
) {
  const timed = words.map((text, i) => ({ text, start: i, end: i + 1, confidence: 1 }))
  return splitChunks({ channel: 0, language, words: timed }, splitAt)
}

function texts(words: string[], options?: { language?: string; splitAt?: number }): string[] {
  return split(words, options).map(({ space, text }) => space + text)
}

test('a chunk is a word with times in milliseconds and its column width', () => {
  assert.deepEqual(split(['the', '你']), [
    { text: 'the', space: '', columns: 3, leans: true, start: 0, end: 1000 },
    { text: '你', space: ' ', columns: 2, leans: false, start: 1000, end: 2000 },
  ])
})

test('a word that contains spaces is split there, with times by length', () => {
  assert.deepEqual(
    split(['one', 'ab cd']).map(({ text, start, end }) => [text, start, end]),
    [
      ['one', 0, 1000],
      ['ab', 1000, 1400],
      ['cd', 1600, 2000],
    ],
  )
})

test('line breaks become spaces, control characters are removed, no-break spaces kept', () => {
  const hostile = ['a\r\n\r\nb', 'c\u2028d\u2029e\u0085f', 'g\u0000\u001b\u007fh', '9\u00a0kg']
  assert.deepEqual(texts(hostile), ['a', ' b', ' c', ' d', ' e', ' f', ' gh', ' 9\u00a0kg'])
})

test('a lone surrogate becomes the replacement character', () => {
  assert.deepEqual(texts(['a\ud83d']), ['a\ufffd'])
})

test('words without visible characters are omitted', () => {
  assert.deepEqual(texts(['', ' \n', '\u0007', '\u200b\u200f', '\u00a0', 'x']), ['x'])
})

test('right-to-left text and its direction marks are unchanged', () => {
  assert.deepEqual(texts(['\u200fשלום\u200f', 'עולם!']), ['\u200fשלום\u200f', ' עולם!'])
})

test('languages without spaces are split at word boundaries, not recognizer tokens', () => {
  assert.deepEqual(texts(['今天天', '气很好'], { language: 'zh' }), ['今天', '天气', '很好'])
  assert.deepEqual(texts(['สวัสดีชาวโลก'], { language: 'th' }), ['สวัสดี', 'ชาว', 'โลก'])
})

test('a chunk across two words takes its times from both', () => {
  const [, weather] = split(['今天天', '气很好'], { language: 'zh' })
  assert.deepEqual([weather?.start, weather?.end], [667, 1333])
})

test('punctuation joins the word before it, an opening bracket the one after it', () => {
  assert.deepEqual(texts(['他说：「你好」。'], { language: 'zh' }), ['他', '说：', '「你好」。'])
})

test('spaces in languages without spaces are kept', () => {
  assert.deepEqual(texts(['用', 'Word 97', '。'], { language: 'zh' }), ['用', 'Word', ' 97。'])
})

test('a long word is split only if allowed, between characters, with times by length', () => {
  assert.deepEqual(texts(['abcdefgh'], {}), ['abcdefgh'])
  assert.deepEqual(
    split(['x', 'abcdefgh'], { splitAt: 4 }).map(({ text, space, start }) => [space + text, start]),
    [
      ['x', 0],
      [' abcd', 1000],
      ['efgh', 1500],
    ],
  )
  assert.deepEqual(texts(['你e\u0301e\u0301好'], { splitAt: 3 }), ['你e\u0301', 'e\u0301好'])
  assert.deepEqual(texts(['😀\u2060😀'], { splitAt: 1 }), ['😀\u2060', '😀'])
})

test('a chunk spans a pause between its words', () => {
  const words = ['今', '天'].map((text, i) => ({
    text,
    start: 5 * i,
    end: 5 * i + 1,
    confidence: 1,
  }))
  const [today] = splitChunks({ channel: 0, language: 'zh', words })
  assert.deepEqual([today?.text, today?.start, today?.end], ['今天', 0, 6000])
})

test('a negative time becomes zero', () => {
  const word = { text: 'a', start: -2, end: -1, confidence: 1 }
  const [chunk] = splitChunks({ channel: 0, language: 'en', words: [word] })
  assert.deepEqual([chunk?.start, chunk?.end], [0, 0])
})

test('an end before its start is moved to the start', () => {
  const word = { text: 'a', start: 2, end: 1, confidence: 1 }
  const [chunk] = splitChunks({ channel: 0, language: 'en', words: [word] })
  assert.deepEqual([chunk?.start, chunk?.end], [2000, 2000])
})
