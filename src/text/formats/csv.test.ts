import assert from 'node:assert/strict'
import test from 'node:test'
import { formatCsv } from './csv.ts'

function textsOf(...texts: string[]): string[] {
  const rows = texts.map((text) => ({ start: 0.5, end: 2, speaker: '', language: 'en', text }))
  return formatCsv(rows).split('\r\n').slice(1, -1)
}

test('a CSV file has a byte order mark, a header and one row per utterance', () => {
  const row = { start: 0.5, end: 2, speaker: 'Ann', language: 'en', text: 'Hello.' }
  assert.equal(formatCsv([row]), '\uFEFFstart,end,speaker,language,text\r\n0.5,2,Ann,en,Hello.\r\n')
})

test('quotes, commas and line breaks are quoted', () => {
  assert.deepEqual(textsOf('say "hi", now', 'a\nb'), [
    '0.5,2,,en,"say ""hi"", now"',
    '0.5,2,,en,"a\nb"',
  ])
})

test('text that looks like a formula is escaped', () => {
  assert.deepEqual(textsOf('=1+1', '-5', '@a', '+1', 'a=1'), [
    "0.5,2,,en,'=1+1",
    "0.5,2,,en,'-5",
    "0.5,2,,en,'@a",
    "0.5,2,,en,'+1",
    '0.5,2,,en,a=1',
  ])
})
