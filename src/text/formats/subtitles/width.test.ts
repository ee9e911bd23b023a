import assert from 'node:assert/strict'
import test from 'node:test'
import { countColumns, splitCharacters } from './width.ts'

const cases: [string, string, number][] = [
  ['plain letters', 'abc', 3],
  ['letters with combining marks', 'e\u0301a\u0308', 2],
  ['right-to-left letters', 'שלום', 4],
  ['Chinese, Japanese and Korean', '你かカ한', 8],
  ['Chinese beyond the basic plane', '\u{20000}', 2],
  ['fullwidth letters', 'Ａ！', 4],
  ['halfwidth katakana', 'ｶﾅ', 2],
  ['emoji', '😀', 2],
  ['a flag', '🇩🇪', 2],
  ['a family of four', '👨‍👩‍👧‍👦', 2],
  ['a sign drawn as emoji', '❤\ufe0f', 2],
  ['the same sign as text', '❤', 1],
  ['direction marks', 'a\u200e\u200fb', 2],
  ['nothing', '', 0],
]

for (const [what, text, columns] of cases) {
  test(`${what} take ${columns} columns`, () => assert.equal(countColumns(text), columns))
}

test('splitCharacters splits at grapheme clusters', () => {
  assert.deepEqual(splitCharacters('e\u0301👨‍👩‍👧x'), ['e\u0301', '👨‍👩‍👧', 'x'])
  assert.deepEqual(splitCharacters('ab'), ['a', 'b'])
})
