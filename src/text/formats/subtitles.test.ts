import assert from 'node:assert/strict'
import test from 'node:test'
import { formatSubtitles } from './subtitles.ts'

const captions = [
  { start: 0.42, end: 1.62, rows: ['Hi, this is Lena.'] },
  { start: 3661.0014, end: 3661.9996, rows: ['That', 'works.'] },
]

test('srt numbers its blocks from 1 and writes times with a comma', () => {
  assert.equal(
    formatSubtitles(captions, 'srt'),
    '1\n00:00:00,420 --> 00:00:01,620\nHi, this is Lena.\n\n' +
      '2\n01:01:01,001 --> 01:01:02,000\nThat\nworks.\n',
  )
})

test('vtt opens with its name and writes times with a point', () => {
  assert.equal(
    formatSubtitles(captions, 'vtt'),
    'WEBVTT\n\n00:00:00.420 --> 00:00:01.620\nHi, this is Lena.\n\n' +
      '01:01:01.001 --> 01:01:02.000\nThat\nworks.\n',
  )
})

test('no captions make an empty srt and a vtt of one line', () => {
  assert.equal(formatSubtitles([], 'srt'), '')
  assert.equal(formatSubtitles([], 'vtt'), 'WEBVTT\n')
})

test('vtt escapes what would open an entity, a tag or a time line', () => {
  const vtt = formatSubtitles([{ start: 0, end: 1, rows: ['R&D <b> -->'] }], 'vtt')
  assert.ok(vtt.endsWith('\nR&amp;D &lt;b&gt; --&gt;\n'))
})
