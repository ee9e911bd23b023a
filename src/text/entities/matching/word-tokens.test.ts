import assert from 'node:assert/strict'
import test from 'node:test'
import { tokenizeWords } from './word-tokens.ts'

const words = (text: string) =>
  tokenizeWords(text).map(({ text, closed }) => (closed ? `${text}|` : text))

test('dashes, slashes and emoji between words separate them', () => {
  assert.deepEqual(words('John—Smith John/Smith 👨‍👩‍👧John👍🏽 Smith'), [
    ...['John', 'Smith', 'John', 'Smith', 'John', 'Smith'],
  ])
})

test('a dash beside a space separates words', () => {
  assert.deepEqual(words('Anna — Will'), ['Anna', '—', 'Will'])
  assert.deepEqual(words('Anna— Will'), ['Anna', '—', 'Will'])
})

test('an extremely long word is tokenized in parts', () => {
  const lengths = tokenizeWords('a'.repeat(1200)).map(({ from, to }) => to - from)
  assert.deepEqual(lengths, [500, 500, 200])
})
