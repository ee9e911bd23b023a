import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { type SubtitlesConfig, subtitles } from './subtitles.ts'

/** Returns an utterance in which each word takes half a second from `start` on. */
function utterance(text: string, start = 0): Utterance {
  const words = text.split(' ').map((text, i) => {
    return { text, start: start + i / 2, end: start + (i + 1) / 2, confidence: 1 }
  })
  return { channel: 0, language: 'en', words }
}

/** Returns the single srt file of utterances. */
function srt(utterances: Utterance[], config: SubtitlesConfig = {}): string {
  const [first] = subtitles({ utterances }, config)
  return first!.subtitles
}

/** Returns start and end of each caption, as the file writes them without hours. */
function times(utterances: Utterance[], config?: SubtitlesConfig): string[] {
  return [...srt(utterances, config).matchAll(/00:(\S+) --> 00:(\S+)/g)].map(
    ([, a, b]) => `${a} ${b}`,
  )
}

/** Returns the rows of each caption. */
function rows(utterances: Utterance[], config?: SubtitlesConfig): string[][] {
  const blocks = srt(utterances, config)
    .trimEnd()
    .split(/\r?\n\r?\n/)
  return blocks.map((block) => block.split(/\r?\n/).slice(2))
}

const long = utterance('this is a sentence of many short words that needs more than two rows')

test('subtitles are returned in the order of the requested formats', () => {
  assert.deepEqual(subtitles({ utterances: [utterance('Hi')] }, { formats: ['vtt', 'srt'] }), [
    { format: 'vtt', subtitles: 'WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nHi\n' },
    { format: 'srt', subtitles: '1\n00:00:00,000 --> 00:00:00,500\nHi\n' },
  ])
})

test('without a config there is one srt file', () => {
  assert.deepEqual(subtitles({ utterances: [] }), [{ format: 'srt', subtitles: '' }])
})

test('minimum_duration extends a caption up to the next one', () => {
  const utterances = [utterance('one'), utterance('two', 1)]
  assert.deepEqual(times(utterances, { minimum_duration: 2 }), [
    '00:00,000 00:01,000',
    '00:01,000 00:03,000',
  ])
})

test('minimum_duration extends no caption beyond the end of the recording', () => {
  const recording = { utterances: [utterance('one', 1)], duration: 1.75 }
  for (const speakers of [false, true]) {
    const [file] = subtitles(recording, { minimum_duration: 2, speakers })
    assert.match(file!.subtitles, /00:00:01,000 --> 00:00:01,750/)
  }
})

test('minimum_duration may exceed the default maximum_duration', () => {
  const utterances = utterance('a b c d e f g. h i j k l m n o p')
  assert.deepEqual(times([utterances], { minimum_duration: 10 }), [
    '00:00,000 00:03,500',
    '00:03,500 00:13,500',
  ])
})

test('maximum_duration splits captions', () => {
  assert.deepEqual(times([utterance('a b c d')], { maximum_duration: 1 }), [
    '00:00,000 00:01,000',
    '00:01,000 00:02,000',
  ])
})

test('row and character limits are respected', () => {
  const config = { maximum_characters_per_row: 12, maximum_rows_per_caption: 5 }
  const captions = rows([long], config)
  assert.ok(captions.every((rows) => rows.length <= 5 && rows.every((row) => row.length <= 12)))
  assert.ok(captions.some((rows) => rows.length > 2))
  const one = rows([long], { maximum_rows_per_caption: 1, maximum_characters_per_row: 60 })
  assert.ok(one.every((rows) => rows.length === 1) && one.some(([row]) => row!.length > 30))
})

test('compliance limits captions to two rows of 42 characters and splits longer words', () => {
  const requested = {
    maximum_rows_per_caption: 5,
    maximum_characters_per_row: 100,
    maximum_duration: 30,
  }
  const utterances = [long, utterance(`a ${'x'.repeat(100)} b`, 20)]
  assert.ok(rows(utterances, requested).some((rows) => rows.length > 2 || rows[0]!.length > 42))
  const captions = rows(utterances, { ...requested, style: 'compliance' })
  assert.ok(captions.every((rows) => rows.length <= 2 && rows.every((row) => row.length <= 42)))
  assert.ok(captions.flat().join('').includes('x'.repeat(100)))
})

test('compliance keeps words of up to 42 characters whole', () => {
  const config = { style: 'compliance', maximum_characters_per_row: 6 } as const
  const captions = rows([utterance('a confused complaint')], config)
  assert.deepEqual(captions, [['a'], ['confused'], ['complaint']])
})

test('compliance respects lower row and character limits', () => {
  const config = { maximum_rows_per_caption: 1, maximum_characters_per_row: 12 }
  const captions = rows([long], { ...config, style: 'compliance' })
  assert.ok(captions.every((rows) => rows.length === 1 && rows[0]!.length <= 12))
})

test('compliance leaves 0.08 s between captions and shows each for at least 0.833 s', () => {
  const utterances = [utterance('one'), utterance('two', 0.5), utterance('three', 4)]
  assert.deepEqual(times(utterances, { style: 'compliance' }), [
    '00:00,000 00:00,420',
    '00:00,500 00:01,333',
    '00:04,000 00:04,833',
  ])
  assert.deepEqual(times([utterance('one')], { style: 'compliance', minimum_duration: 2 }), [
    '00:00,000 00:02,000',
  ])
})

test('compliance ends lines with CRLF, and default with LF', () => {
  const files = subtitles({ utterances: [long] }, { formats: ['srt', 'vtt'], style: 'compliance' })
  for (const file of files) assert.doesNotMatch(file.subtitles, /[^\r]\n|\r[^\n]/)
  assert.doesNotMatch(srt([long], { style: 'default' }), /\r/)
})

test('a format requested twice is written once', () => {
  const { utterances } = { utterances: [] }
  const files = subtitles({ utterances }, { formats: ['srt', 'vtt', 'srt', 'vtt'] })
  assert.deepEqual(
    files.map(({ format }) => format),
    ['srt', 'vtt'],
  )
})

test('subtitles far longer than the transcript are rejected', () => {
  const words = Array.from({ length: 230_000 }, (_, i) => {
    return { text: 'a'.repeat(40), start: i / 400, end: (i + 1) / 400, confidence: 1 }
  })
  const utterances = [{ channel: 0, language: 'en', words }]
  const config = { style: 'compliance', maximum_characters_per_row: 1, maximum_rows_per_caption: 1 }
  assert.throws(
    () => subtitles({ utterances }, config as SubtitlesConfig),
    /more than 16000000 characters/,
  )
})

test('speakers are named only if requested', () => {
  const word = { text: 'Hello', start: 0, end: 1, confidence: 1 }
  const utterances = [0, 1].map((speaker) => {
    return { channel: 0, language: 'en', speaker, words: [word] }
  })
  assert.ok(!subtitles({ utterances })[0]!.subtitles.includes('Speaker'))
  assert.match(subtitles({ utterances }, { speakers: true })[0]!.subtitles, /^Speaker 2: Hello$/m)
})
