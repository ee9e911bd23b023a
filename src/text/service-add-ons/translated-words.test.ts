import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followWords, interpolateWordTimes } from './translated-words.ts'

const original = ['Hello', 'Lena'].map((text, i) => ({ text, start: i, end: i + 1, confidence: 1 }))

function piecesOf(text: string, language: string): string[] {
  const { words } = interpolateWordTimes(text, original, language)
  assert.deepEqual(
    followWords(text, original, language).words.map((word) => word.text),
    words.map((word) => word.text),
  )
  return words.map((word) => word.text)
}

test('languages without spaces are split into words with their punctuation', () => {
  assert.deepEqual(piecesOf('你好，莉娜。「你好吗？」', 'zh'), [
    '你好，',
    '莉',
    '娜。',
    '「你好',
    '吗？」',
  ])
  assert.deepEqual(piecesOf('元気ですか？', 'ja'), ['元気', 'です', 'か？'])
  assert.deepEqual(piecesOf('สวัสดีครับ คุณสบายดีไหม', 'th'), ['สวัสดี', 'ครับ', 'คุณ', 'สบาย', 'ดี', 'ไหม'])
  assert.deepEqual(piecesOf('ສະບາຍດີ ທ່ານສະບາຍດີບໍ?', 'lo'), ['ສະບາຍດີ', 'ທ່ານ', 'ສະບາຍດີ', 'ບໍ?'])
})

test('a redaction marker or a word in another script is one word', () => {
  assert.deepEqual(piecesOf('你好[NAME_1]。', 'zh'), ['你好', '[NAME_1]。'])
  assert.deepEqual(piecesOf('I met 李娜 [NAME_1].', 'en'), ['I', 'met', '李娜', '[NAME_1].'])
  assert.deepEqual(piecesOf('“…” ok', 'zh'), ['“…”', 'ok'])
})
