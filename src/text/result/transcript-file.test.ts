import assert from 'node:assert/strict'
import test from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { writeTranscriptFile } from './transcript-file.ts'

/** A result with two speakers; the words of live results begin with a space. */
function resultOf(space: '' | ' ') {
  const utterances = ['Hello there.', 'Good day.'].map((text, i) => {
    const words = text.split(' ').map((word, k) => {
      const start = 2 * i + k / 2
      return { word: k > 0 ? ` ${word}` : space + word, start, end: start + 0.5, confidence: 1 }
    })
    const times = { start: 2 * i, end: 2 * i + 1, confidence: 1, channel: 0, speaker: i }
    return { ...times, words, text: space + text, language: 'en' }
  })
  const transcription = {
    full_transcript: 'Hello there. Good day.',
    languages: ['en'],
    utterances,
  }
  return JSON.stringify({ metadata: {}, transcription, messages: ['"x"'] })
}

for (const space of ['', ' '] as const) {
  const kind = space ? 'a live' : 'a recorded'
  const write = (format: 'txt' | 'srt' | 'vtt' | 'json' | 'csv' | 'docx', form = {}) => {
    const file = { result: resultOf(space), format, speakers: true, words: false, ...form }
    const written = writeTranscriptFile(file)
    if (typeof written === 'string') return written
    assert.ok(written instanceof Uint8Array)
    return strFromU8(unzipSync(written)['word/document.xml']!)
  }

  test(`${kind} transcript is written as text and subtitles, with and without speakers`, () => {
    assert.equal(write('txt'), 'Speaker 1: Hello there.\nSpeaker 2: Good day.\n')
    assert.equal(write('txt', { speakers: false }), 'Hello there.\nGood day.\n')
    assert.match(write('srt'), /^1\n00:00:00,000 --> 00:00:01,000\nSpeaker 1: Hello there\.\n/)
    assert.match(write('vtt'), /^<v Speaker 2>Good day\.$/m)
    assert.match(write('vtt', { speakers: false }), /^Good day\.$/m)
  })

  test(`${kind} transcript is written as CSV, with and without speakers`, () => {
    assert.match(write('csv'), /^2,3,Speaker 2,en,Good day\.\r$/m)
    assert.match(write('csv', { speakers: false }), /^2,3,,en,Good day\.\r$/m)
  })

  test(`${kind} transcript is written as a Word document, with and without speakers`, () => {
    assert.match(write('docx'), />0:02 <.*>Speaker 2: <.*>Good day\.</)
    assert.doesNotMatch(write('docx', { speakers: false }), /Speaker/)
  })

  test(`${kind} transcript is written as JSON, with and without words`, () => {
    const { utterances, ...rest } = JSON.parse(write('json'))
    assert.deepEqual(rest, { full_transcript: 'Hello there. Good day.', languages: ['en'] })
    assert.deepEqual([utterances[1].text, utterances[1].speaker], ['Good day.', 1])
    assert.ok(!('words' in utterances[0]))
    assert.equal(JSON.parse(write('json', { words: true })).utterances[0].words.length, 2)
  })
}

test('a translation is written instead of the original, or its error', () => {
  const spoken = JSON.parse(resultOf('')) as { transcription: { utterances: object[] } }
  const utterance = { ...spoken.transcription.utterances[0]!, language: 'fr', text: 'Bonjour.' }
  const french = { full_transcript: 'Bonjour.', languages: ['fr'], utterances: [utterance] }
  const write = (translation: object | undefined, target: string) => {
    const result = JSON.stringify({ ...spoken, translation })
    const form = { format: 'txt', speakers: false, words: false, translation: target } as const
    return writeTranscriptFile({ result, ...form })
  }
  const made = { results: [{ error: null, ...french }], error: null }
  assert.equal(write(made, 'fr'), 'Bonjour.\n')
  assert.deepEqual(write(made, 'de'), { problem: 'the result has no translation into de' })
  // What was spoken in the language needs none.
  assert.equal(write(undefined, 'en'), 'Hello there.\nGood day.\n')
  const error = { status_code: 502, exception: 'ServiceFailed', message: 'it is down' }
  assert.deepEqual(write({ results: null, error }, 'fr'), { problem: 'it is down' })
  const failed = { results: [{ ...french, error }], error: null }
  assert.deepEqual(write(failed, 'fr'), { problem: 'it is down' })
})
