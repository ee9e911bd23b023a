import assert from 'node:assert/strict'
import test from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { formatWordDocument, type Paragraph } from './word-document.ts'

function documentOf(...paragraphs: Partial<Paragraph>[]): string {
  const whole = paragraphs.map((some) => ({ start: 0, text: 'Hello.', language: 'en', ...some }))
  const files = unzipSync(formatWordDocument(whole))
  assert.deepEqual(Object.keys(files), ['[Content_Types].xml', '_rels/.rels', 'word/document.xml'])
  return strFromU8(files['word/document.xml']!)
}

/** The text of each paragraph. */
function linesOf(document: string): string[] {
  return document
    .split('</w:p>')
    .slice(0, -1)
    .map((paragraph) => paragraph.replace(/<[^>]*>/g, '').trim())
}

test('each paragraph has its time and its speaker', () => {
  const document = documentOf(
    { start: 7.9, voice: 'Speaker 1' },
    { start: 750, text: 'Good day.' },
    { start: 3723 },
  )
  const lines = ['0:07 Speaker 1: Hello.', '12:30 Good day.', '1:02:03 Hello.']
  assert.deepEqual(linesOf(document), lines)
  assert.match(document, /<w:rPr><w:b\/><\/w:rPr><w:t xml:space="preserve">Speaker 1: </)
})

test('markup is escaped, and invalid XML characters are removed', () => {
  const document = documentOf({ text: 'a < b & c > d \u0000\u0008\ufffe\ud800 😀' })
  assert.match(document, />a &lt; b &amp; c &gt; d \ufffd 😀</)
})

test('Arabic and Hebrew are set right to left', () => {
  const [arabic, english] = [documentOf({ language: 'ar' }), documentOf({})]
  assert.match(arabic, /<w:bidi\/>.*<w:rtl\/>/)
  assert.doesNotMatch(english, /bidi|rtl/)
})

test('the same transcript yields the same bytes', () => {
  const paragraph = { start: 0, text: 'Hello.', language: 'en' }
  assert.deepEqual(formatWordDocument([paragraph]), formatWordDocument([paragraph]))
})
