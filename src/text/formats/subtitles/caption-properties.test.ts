import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Utterance } from '../../../transcript/transcript.ts'
import { splitCaptions } from './split-captions.ts'
import { countColumns } from './width.ts'

test('for any words and limits no text is lost and every limit is kept', () => {
  const text = fc.oneof(
    fc.stringMatching(/^[a-z]{1,12}[.,]?$/),
    fc.constantFrom(
      '-->',
      '한국어',
      '👨‍👩‍👧‍👦',
      'e\u0301te\u0301',
      '\u200fשלום\u200f',
      '7',
      '{\\an8}',
    ),
  )
  const word = fc.tuple(text, fc.nat(30), fc.nat(20))
  const limits = fc.record({
    minDuration: fc.constantFrom(0, 0.833, 2),
    maxDuration: fc.integer({ min: 3, max: 30 }),
    maxCharactersPerRow: fc.integer({ min: 13, max: 60 }),
    maxRows: fc.integer({ min: 1, max: 5 }),
    minGap: fc.constantFrom(0, 0.08),
  })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), limits, (parts, limits) => {
      let clock = 0
      const words = parts.map(([text, length, pause]) => {
        const start = clock + pause
        clock = start + length
        return { text, start: start / 10, end: clock / 10, confidence: 1 }
      })
      const captions = splitCaptions([{ channel: 0, language: 'en', words }], limits)
      const text = captions.flatMap((caption) => caption.rows).join(' ')
      assert.equal(text, words.map((w) => w.text).join(' '))
      for (const { start, end, rows } of captions) {
        assert.ok(rows.length <= limits.maxRows && end - start <= limits.maxDuration + 1e-9)
        assert.ok(rows.every((row) => countColumns(row) <= limits.maxCharactersPerRow))
      }
      for (const [i, { start }] of captions.entries()) {
        assert.ok(i === 0 || start >= captions[i - 1]!.end + limits.minGap - 1e-9)
      }
    }),
  )
})

test('on several channels words stay in order and captions do not mix channels', () => {
  const spoken = fc.record({
    channel: fc.nat(2),
    start: fc.nat(100),
    words: fc.array(fc.nat(20), { maxLength: 12 }),
  })
  fc.assert(
    fc.property(fc.array(spoken, { maxLength: 12 }), (all) => {
      const utterances = all.map(({ channel, start, words }, u): Utterance => {
        return {
          channel,
          language: 'en',
          words: words.map((length, w) => {
            const at = start + words.slice(0, w).reduce((sum, length) => sum + length, 0)
            return { text: `${u}:${w}`, start: at / 10, end: (at + length) / 10, confidence: 1 }
          }),
        }
      })
      const captions = splitCaptions(utterances)
      for (const { rows } of captions) {
        const owners = rows
          .join(' ')
          .split(' ')
          .map((word) => word.split(':')[0])
        assert.equal(new Set(owners).size, 1)
      }
      const shown = captions.flatMap(({ rows }) => rows.join(' ').split(' '))
      for (const [u, { words }] of utterances.entries()) {
        const ofUtterance = shown.filter((word) => word.startsWith(`${u}:`))
        assert.deepEqual(
          ofUtterance,
          words.map(({ text }) => text),
        )
      }
    }),
  )
})

test('for any splitting every character is shown once within the limits', () => {
  const texts = fc.array(
    fc.oneof(
      fc.constantFrom(
        '今天天气很好',
        'カタカナ。',
        '「你好」',
        'สวัสดีชาวโลก',
        'Word 97',
        '👨‍👩‍👧‍👦',
        '，',
      ),
      fc.stringMatching(/^[a-z]{1,90}$/),
    ),
    { maxLength: 30 },
  )
  const width = fc.integer({ min: 2, max: 42 })
  const language = fc.constantFrom('en', 'zh', 'ja', 'th')
  fc.assert(
    fc.property(texts, width, language, (texts, maxCharactersPerRow, language) => {
      const words = texts.map((text, i) => ({ text, start: i, end: i + 1, confidence: 1 }))
      const limits = { maxCharactersPerRow, maxWordColumns: maxCharactersPerRow }
      const rows = splitCaptions([{ channel: 0, language, words }], limits).flatMap(
        ({ rows }) => rows,
      )
      assert.equal(rows.join('').replaceAll(' ', ''), texts.join('').replaceAll(' ', ''))
      assert.ok(rows.every((row) => countColumns(row) <= maxCharactersPerRow))
    }),
  )
})
