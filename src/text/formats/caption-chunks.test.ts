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
  return split(words, options).map(({ blank, text }) => blank + text)
}

test('a chunk is a word with its times in milliseconds and its columns', () => {
  assert.deepEqual(split(['the', '你']), [
    { text: 'the', blank: '', columns: 3, leans: true, start: 0, end: 1000 },
    { text: '你', blank: ' ', columns: 2, leans: false, start: 1000, end: 2000 },
  ])
})

test('a word of several words is cut at its blanks and shares its time by length', () => {
  assert.deepEqual(
    split(['one', 'ab cd']).map(({ text, start, end }) => [text, start, end]),
    [
      ['one', 0, 1000],
      ['ab', 1000, 1400],
      ['cd', 1600, 2000],
    ],
  )
})

test('line ends become blanks, control characters disappear, no-break blanks stay', () => {
  const hostile = ['a\r\n\r\nb', 'c\u2028d\u2029e\u0085f', 'g\u0000\u001b\u007fh', '9\u00a0kg']
  assert.deepEqual(texts(hostile), ['a', ' b', ' c', ' d', ' e', ' f', ' gh', ' 9\u00a0kg'])
})

test('half a surrogate pair becomes the replacement character', () => {
  assert.deepEqual(texts(['a\ud83d']), ['a\ufffd'])
})

test('words with nothing to see are left out', () => {
  assert.deepEqual(texts(['', ' \n', '\u0007', '\u200b\u200f', '\u00a0', 'x']), ['x'])
})

test('right-to-left text and its direction marks stay as they are', () => {
  assert.deepEqual(texts(['\u200fשלום\u200f', 'עולם!']), ['\u200fשלום\u200f', ' עולם!'])
})

test('a language without blanks is cut between its words, whatever the recognizer calls a word', () => {
  assert.deepEqual(texts(['今天天', '气很好'], { language: 'zh' }), ['今天', '天气', '很好'])
  assert.deepEqual(texts(['สวัสดีชาวโลก'], { language: 'th' }), ['สวัสดี', 'ชาว', 'โลก'])
})

test('a chunk across two words has its times from both', () => {
  const [, weather] = split(['今天天', '气很好'], { language: 'zh' })
  assert.deepEqual([weather?.start, weather?.end], [667, 1333])
})

test('punctuation stays with the word before it, an opening bracket with the one after it', () => {
  assert.deepEqual(texts(['他说：「你好」。'], { language: 'zh' }), ['他', '说：', '「你好」。'])
})

test('a language without blanks keeps the blanks it has', () => {
  assert.deepEqual(texts(['用', 'Word 97', '。'], { language: 'zh' }), ['用', 'Word', ' 97。'])
})

test('a long word is split only where allowed, between characters, with times by length', () => {
  assert.deepEqual(texts(['abcdefgh'], {}), ['abcdefgh'])
  assert.deepEqual(
    split(['x', 'abcdefgh'], { splitAt: 4 }).map(({ text, blank, start }) => [blank + text, start]),
    [
      ['x', 0],
      [' abcd', 1000],
      ['efgh', 1500],
    ],
  )
  assert.deepEqual(texts(['你e\u0301e\u0301好'], { splitAt: 3 }), ['你e\u0301', 'e\u0301好'])
  assert.deepEqual(texts(['😀\u2060😀'], { splitAt: 1 }), ['😀\u2060', '😀'])
})

test('a chunk of words with a pause between lasts from the first to the last', () => {
  const words = ['今', '天'].map((text, i) => ({
    text,
    start: 5 * i,
    end: 5 * i + 1,
    confidence: 1,
  }))
  const [today] = splitChunks({ channel: 0, language: 'zh', words })
  assert.deepEqual([today?.text, today?.start, today?.end], ['今天', 0, 6000])
})

test('a time before the recording is its start', () => {
  const word = { text: 'a', start: -2, end: -1, confidence: 1 }
  const [chunk] = splitChunks({ channel: 0, language: 'en', words: [word] })
  assert.deepEqual([chunk?.start, chunk?.end], [0, 0])
})

test('no chunk ends before it starts', () => {
  const word = { text: 'a', start: 2, end: 1, confidence: 1 }
  const [chunk] = splitChunks({ channel: 0, language: 'en', words: [word] })
  assert.deepEqual([chunk?.start, chunk?.end], [2000, 2000])
})
