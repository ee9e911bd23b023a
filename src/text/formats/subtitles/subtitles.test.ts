import assert from 'node:assert/strict'
import test from 'node:test'
import { formatSubtitles, formatWithVoices } from './subtitles.ts'

const captions = [
  { start: 0.42, end: 1.62, rows: ['Hi, this is Lena.'] },
  { start: 3661.0014, end: 3661.9996, rows: ['That', 'works.'] },
]

test('srt numbers captions from 1 and writes times with a comma', () => {
  assert.equal(
    formatSubtitles(captions, 'srt'),
    '1\n00:00:00,420 --> 00:00:01,620\nHi, this is Lena.\n\n' +
      '2\n01:01:01,001 --> 01:01:02,000\nThat\nworks.\n',
  )
})

test('vtt starts with its header and writes times with a point', () => {
  assert.equal(
    formatSubtitles(captions, 'vtt'),
    'WEBVTT\n\n00:00:00.420 --> 00:00:01.620\nHi, this is Lena.\n\n' +
      '01:01:01.001 --> 01:01:02.000\nThat\nworks.\n',
  )
})

test('no captions yield an empty srt and a vtt with only its header', () => {
  assert.equal(formatSubtitles([], 'srt'), '')
  assert.equal(formatSubtitles([], 'vtt'), 'WEBVTT\n')
})

test('vtt escapes entities, tags and arrows', () => {
  const vtt = formatSubtitles([{ start: 0, end: 1, rows: ['R&D <b> -->'] }], 'vtt')
  assert.ok(vtt.endsWith('\nR&amp;D &lt;b&gt; --&gt;\n'))
})

test('srt replaces arrows in text so that no row looks like times', () => {
  const rows = ['00:00:01,000 --> 00:00:02,000', '<b> & 7']
  const srt = formatSubtitles([{ start: 0, end: 1, rows }], 'srt')
  assert.ok(srt.endsWith(',000\n00:00:01,000 → 00:00:02,000\n<b> & 7\n'))
})

test('times of 100 hours and more have additional digits', () => {
  const captions = [{ start: 360_000, end: 3_600_000.5, rows: ['late'] }]
  assert.match(formatSubtitles(captions, 'srt'), /\n100:00:00,000 --> 1000:00:00,500\n/)
})

test('lines end with the requested line ending', () => {
  const options = { lineEnd: '\r\n' } as const
  assert.equal(
    formatSubtitles(captions, 'vtt', options),
    'WEBVTT\r\n\r\n00:00:00.420 --> 00:00:01.620\r\nHi, this is Lena.\r\n\r\n' +
      '01:01:01.001 --> 01:01:02.000\r\nThat\r\nworks.\r\n',
  )
})

test('speakers are named by voice tags in vtt, at changes in srt', () => {
  const utterance = (text: string, start: number, speaker?: number, channel = 0) => {
    const words = [{ text, start, end: start + 0.5, confidence: 1 }]
    return { channel, language: 'en', words, ...(speaker !== undefined && { speaker }) }
  }
  const rowsOf = (file: string) => file.split('\n').filter((row) => /[a-z]/.test(row))
  const talk = [utterance('hello', 0, 0), utterance('there', 1, 0), utterance('hi', 2, 1)]
  assert.deepEqual(rowsOf(formatWithVoices(talk, 'vtt')), [
    ...['<v Speaker 1>hello', '<v Speaker 1>there', '<v Speaker 2>hi'],
  ])
  assert.deepEqual(rowsOf(formatWithVoices(talk, 'srt')), [
    ...['Speaker 1: hello', 'there', 'Speaker 2: hi'],
  ])
  const call = [utterance('hello', 0), utterance('hi', 2, undefined, 1)]
  assert.deepEqual(rowsOf(formatWithVoices(call, 'srt')), ['Channel 1: hello', 'Channel 2: hi'])
  for (const format of ['srt', 'vtt'] as const) {
    assert.ok(!formatWithVoices(talk.slice(0, 2), format).includes('Speaker'))
  }
})

test('in srt each caption of simultaneous speech names its channel', () => {
  const utterance = (text: string, channel: number) => {
    const words = text.split(' ').map((word, i) => {
      return { text: word, start: channel + i, end: channel + i + 0.9, confidence: 1 }
    })
    return { channel, language: 'en', words }
  }
  const both = [utterance('one two three. four five six.', 0), utterance('a b c d. e f g h.', 1)]
  const limits = { maxCharactersPerRow: 26, maxRows: 1 }
  const rows = formatWithVoices(both, 'srt', { limits })
    .split('\n')
    .filter((row) => /[a-z]/.test(row))
  assert.deepEqual(rows, [
    'Channel 1: one two three.',
    'Channel 2: a b c d.',
    'Channel 1: four five six.',
    'Channel 2: e f g h.',
  ])
  assert.ok(rows.every((row) => row.length <= 26))
})
