import assert from 'node:assert/strict'
import test from 'node:test'
import { breakLines } from './break-lines.ts'
import type { TextChunk } from './break-penalty.ts'

/** Lays the words of a text, a second each, into rows. */
function lay(text: string, width: number): string[] {
  const chunks = text.split(' ').map((text, i): TextChunk => {
    const start = i * 1000
    return {
      text,
      space: i ? ' ' : '',
      columns: text.length,
      leans: text === 'the',
      start,
      end: start + 1000,
    }
  })
  return breakLines(chunks, width)
}

test('text that fits is one row', () => {
  assert.deepEqual(lay('aa bb', 5), ['aa bb'])
})

test('rows are as few as possible and of similar length', () => {
  assert.deepEqual(lay('aa bb cc dd', 9), ['aa bb', 'cc dd'])
  assert.deepEqual(lay('aa bb cc dd ee ff', 9), ['aa bb cc', 'dd ee ff'])
  assert.deepEqual(lay('aa bb cc dd ee ff', 5), ['aa bb', 'cc dd', 'ee ff'])
})

test('of two unequal rows the lower one is longer', () => {
  assert.deepEqual(lay('aa bb cc', 6), ['aa', 'bb cc'])
})

test('a row ends after a comma if the others are nearly as balanced', () => {
  assert.deepEqual(lay('aaaa, bbbb cccc dddd eeee ffff', 25), ['aaaa, bbbb cccc', 'dddd eeee ffff'])
  assert.deepEqual(lay('aaaa bbbb cccc, dddd eeee', 24), ['aaaa bbbb cccc,', 'dddd eeee'])
})

test('a word wider than the row gets its own row', () => {
  assert.deepEqual(lay('aa aa bbbbbbbb cc cc', 5), ['aa aa', 'bbbbbbbb', 'cc cc'])
  const rest = ['bb cc', 'dd ee']
  assert.deepEqual(lay('aaaaaaaaaa bb cc dd ee', 9), ['aaaaaaaaaa', ...rest])
})

test('a row does not end with a function word', () => {
  assert.deepEqual(lay('aaaa bbbb cc the dddd eeeee ff', 24), ['aaaa bbbb cc', 'the dddd eeeee ff'])
})

test('a better break never makes a row too long', () => {
  const [a, c] = ['a'.repeat(20), 'c'.repeat(20)]
  assert.deepEqual(lay(`${a} the b. ${c}`, 24), [`${a} the`, `b. ${c}`])
})
