import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import test from 'node:test'
import { parse } from '@plussub/srt-vtt-parser'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import { characters } from '../../../test/support/text/unicode.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { Utterance } from '../../transcript/transcript.ts'
import { type Caption, splitCaptions } from './subtitles/split-captions.ts'
import { formatSubtitles } from './subtitles/subtitles.ts'

type Validator = {
  parse(text: string): {
    cues: { startTime: number; endTime: number; tree: { children: { value: string }[] } }[]
    errors: { message: string }[]
  }
}
/** The validator of the W3C, which has no types. */
const { WebVTTParser } = createRequire(import.meta.url)('webvtt-parser') as {
  WebVTTParser: new (entities: Record<string, string>) => Validator
}

/**
 * Text that breaks files: marks of both formats, times, numbers, line ends, controls, and unusual
 * writing.
 */
const hostile = fc.oneof(
  fc.constantFrom('-->', '00:00:01,000', '00:00:01.000-->00:00:02.000', '00:00:02,000', '42', '1'),
  fc.constantFrom(
    'WEBVTT',
    'NOTE',
    'STYLE',
    '<b>',
    '</b>',
    '<00:00:01.000>',
    '&amp;',
    '&',
    '<',
    '>',
  ),
  fc.constantFrom(
    '\n',
    '\r\n\r\n',
    '\u0000',
    '\u2028',
    '\ufeff',
    '',
    '\u202eabc',
    'שלום',
    '你好',
    '👨‍👩‍👧‍👦',
  ),
  fc.constantFrom(
    'a\n\n2\n00:00:01,000 --> 00:00:02,000\nb',
    '{\\an8}',
    '\\N',
    '\ud800',
    '-',
    '--',
    '->',
  ),
  fc.array(characters, { maxLength: 20 }).map((all) => all.join('')),
)

const transcripts = fc
  .array(fc.record({ texts: fc.array(hostile, { maxLength: 15 }), pause: fc.nat(2000) }), {
    maxLength: 6,
  })
  .chain((parts) => fc.constantFrom('en', 'zh').map((language) => ({ parts, language })))
  .map(({ parts, language }) => {
    let clock = 0
    return parts.map(({ texts, pause }, channel): Utterance => {
      clock += pause / 1000
      const words = texts.map((text, i) => {
        return { text, start: clock + i / 7, end: clock + (i + 1) / 7, confidence: 1 }
      })
      return { channel, language, words }
    })
  })

const lineEnds = fc.constantFrom('\n' as const, '\r\n' as const)
const limits = fc.constantFrom({}, { maxCharactersPerRow: 1 }, { maxWordColumns: 42, minGap: 0.08 })

test('a WebVTT validator reads every caption without an error, for any text', () => {
  // Its own table lacks the semicolons.
  const validator = new WebVTTParser({ '&amp;': '&', '&lt;': '<', '&gt;': '>' })
  fc.assert(
    fc.property(transcripts, lineEnds, limits, (utterances, lineEnd, limits) => {
      const captions = splitCaptions(utterances, limits)
      const { cues, errors } = validator.parse(formatSubtitles(captions, 'vtt', { lineEnd }))
      assert.deepEqual(errors, [])
      assert.deepEqual(
        cues.map(({ startTime, endTime, tree }) => {
          const rows = tree.children
            .map(({ value }) => value)
            .join('')
            .split('\n')
          return { start: roundTo(startTime, 3), end: roundTo(endTime, 3), rows }
        }),
        captions,
      )
    }),
  )
})

/** A caption as the reader of SRT describes it, in milliseconds. */
type Entry = { from: number; to: number; text: string }

test('a reader of SRT finds every caption, for any text', () => {
  fc.assert(
    fc.property(transcripts, lineEnds, limits, (utterances, lineEnd, limits) => {
      const captions = splitCaptions(utterances, limits)
      const read: Entry[] = parse(formatSubtitles(captions, 'srt', { lineEnd })).entries
      assert.deepEqual(
        read.map(({ from, to, text }) => {
          return { start: from / 1000, end: to / 1000, text: text.replaceAll('\r', '') }
        }),
        captions.map((caption) => ({
          start: caption.start,
          end: caption.end,
          text: writtenText(caption),
        })),
      )
    }),
    { numRuns: rounds(50) },
  )
})

/** Returns the text of a caption as it is in the file: marks of the format are replaced there. */
function writtenText(caption: Caption): string {
  const [, text = ''] = formatSubtitles([caption], 'srt').split(/^.* --> .*\n/m)
  return text.trimEnd()
}
