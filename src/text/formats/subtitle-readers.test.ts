import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import test from 'node:test'
import fc from 'fast-check'
import { Demuxer } from 'node-av/api'
import { rounds } from '../../../test/support/random/rounds.ts'
import { characters } from '../../../test/support/text/unicode.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { Utterance } from '../../transcript/transcript.ts'
import { type Caption, splitCaptions } from './subtitles/split-captions.ts'
import { formatSubtitles, type SubtitleFormat } from './subtitles/subtitles.ts'

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

test('FFmpeg reads every caption of both formats, for any text', async () => {
  const property = fc.asyncProperty(
    transcripts,
    lineEnds,
    limits,
    async (utterance, lineEnd, limits) => {
      const captions = splitCaptions(utterance, limits)
      for (const format of ['srt', 'vtt'] as const) {
        const written = formatSubtitles(captions, format, { lineEnd })
        const read = captions.length === 0 ? [] : await demux(written, format)
        assert.deepEqual(
          read,
          captions.map((caption) => toPacket(caption, format)),
        )
      }
    },
  )
  await fc.assert(property, { numRuns: rounds(20) })
})

/**
 * Returns the packet that a demuxer reads for a caption: the text is that of the file, escapes
 * included.
 */
function toPacket(caption: Caption, format: SubtitleFormat) {
  const start = Math.round(caption.start * 1000)
  const length = Math.round(caption.end * 1000) - start
  const [block] = formatSubtitles([caption], format)
    .split(/^.* --> .*\n/m)
    .slice(1)
  return { start, length, text: block!.trimEnd() }
}

async function demux(text: string, format: SubtitleFormat) {
  const reader = await Demuxer.open(Buffer.from(text), {
    format: format === 'vtt' ? 'webvtt' : 'srt',
  })
  try {
    const packets: { start: number; length: number; text: string }[] = []
    for await (const packet of reader.packets()) {
      if (!packet) break
      const written = packet.data?.toString().replaceAll('\r\n', '\n').trimEnd() ?? ''
      packets.push({ start: Number(packet.pts), length: Number(packet.duration), text: written })
    }
    return packets
  } finally {
    await reader.close()
  }
}
