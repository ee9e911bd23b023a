import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import type { ApiPreRecordedResult } from '../client/api-types.ts'
import { formatResult, formatTranslation, readFormat, refuseTerminal } from './formats.ts'

test('the extension of the output selects the format unless an option does', () => {
  const outputs = ['a.srt', 'A.JSON', 'b/c.docx', 'a.md', 'srt', 'a.vtt/', undefined]
  const formats = outputs.map((output) => readFormat({ output }))
  assert.deepEqual(formats, ['srt', 'json', 'docx', 'txt', 'txt', 'txt', 'txt'])
  assert.equal(readFormat({ output: 'a.srt', format: 'vtt' }), 'vtt')
  assert.equal(readFormat({ output: 'a.srt', json: true }), 'json')
  assert.throws(() => readFormat({ json: true, format: 'srt' }), /exclude each other/)
})

test('a name of a format that is not written is refused unless an option says what to write', () => {
  assert.throws(
    () => readFormat({ output: 'talk.PDF' }),
    /^UsageError: cannot write pdf files: .*txt/,
  )
  assert.equal(readFormat({ output: 'talk.csv', format: 'txt' }), 'txt')
  assert.equal(readFormat({ output: 'talk.pdf/' }), 'txt')
})

/** Returns a result with one utterance per text; each word takes a second. */
function result(texts: [channel: number, text: string][]): ApiPreRecordedResult {
  const utterances = texts.map(([channel, text], i) => {
    const words = text.split(' ').map((word, j) => {
      return {
        word: j > 0 ? ` ${word}` : word,
        start: 10 * i + j,
        end: 10 * i + j + 1,
        confidence: 1,
      }
    })
    return {
      start: 10 * i,
      end: 10 * i + words.length,
      channel,
      words,
      text,
      language: 'en',
      confidence: 1,
    }
  })
  return {
    metadata: {
      audio_duration: 60,
      number_of_distinct_channels: 1,
      billing_time: 60,
      transcription_time: 1,
    },
    transcription: {
      languages: ['en'],
      full_transcript: texts.map(([, text]) => text).join(' '),
      utterances,
    },
  }
}

test('txt has one utterance per line', () => {
  assert.equal(
    formatResult(
      result([
        [0, 'Good day.'],
        [0, 'Hello.'],
      ]),
      'txt',
    ),
    'Good day.\nHello.\n',
  )
})

test('txt names the channels if there are several', () => {
  const text = formatResult(
    result([
      [0, 'Good day.'],
      [1, 'Hello.'],
    ]),
    'txt',
  )
  assert.equal(text, 'Channel 1: Good day.\nChannel 2: Hello.\n')
})

test('txt of silence is empty', () => {
  assert.equal(formatResult(result([]), 'txt'), '')
})

test('json is the unchanged result of the server', () => {
  const transcript = result([[0, 'Good day.']])
  assert.deepEqual(JSON.parse(formatResult(transcript, 'json')), transcript)
})

test('srt is generated from the words, without leading blanks', () => {
  const srt = '1\n00:00:00,000 --> 00:00:02,000\nGood day.\n'
  assert.equal(formatResult(result([[0, 'Good day.']]), 'srt'), srt)
})

test('subtitles from the server are used if present', () => {
  const transcript = result([[0, 'Good day.']])
  transcript.transcription.subtitles = [{ format: 'srt', subtitles: 'made there' }]
  assert.equal(formatResult(transcript, 'srt'), 'made there')
  assert.throws(
    () => formatResult(transcript, 'vtt'),
    /^Error: The server returned no vtt subtitles$/,
  )
})

test('translated subtitles are those of the server; a translation that failed has none', () => {
  const transcript = result([[0, 'Good day.']])
  const { utterances } = transcript.transcription
  const envelope = { success: true, is_empty: false, exec_time: 0, error: null }
  const error = { status_code: 501, exception: 'NotConfigured', message: 'no model' }
  const es = { error: null, full_transcript: 'Buenos días.', languages: ['es'], utterances }
  const fr = { error, full_transcript: '', languages: ['fr'], utterances: [] }
  const subtitles = [{ format: 'srt', subtitles: 'hecho allí' }]
  Object.assign(transcript, { translation: { ...envelope, results: [{ ...es, subtitles }, fr] } })
  assert.equal(formatTranslation(transcript, { language: 'es', format: 'srt' }), 'hecho allí')
  assert.equal(formatTranslation(transcript, { language: 'fr', format: 'srt' }), undefined)
  assert.equal(formatTranslation(result([]), { language: 'es', format: 'srt' }), undefined)
})

test('txt has one sentence per line if sentences were requested', () => {
  const transcript = result([[0, 'Good day. Hello.']])
  const envelope = { success: true, is_empty: false, exec_time: 0, error: null }
  transcript.sentences = { ...envelope, results: ['Good day.', 'Hello.'] }
  assert.equal(formatResult(transcript, 'txt'), 'Good day.\nHello.\n')
  transcript.sentences = { ...envelope, success: false, results: null }
  assert.equal(formatResult(transcript, 'txt'), 'Good day. Hello.\n')
})

test('txt shows add-on results below the transcript', () => {
  const transcript = result([[0, 'Good day.']])
  transcript.summarization = {
    success: true,
    is_empty: false,
    exec_time: 0,
    error: null,
    results: 'Good day.',
  }
  assert.equal(formatResult(transcript, 'txt'), 'Good day.\n\nSummary:\nGood day.\n')
})

test('txt names the speakers if diarized, on any channel', () => {
  const transcribed = result([
    [0, 'Good day.'],
    [1, 'Hello.'],
  ])
  const { utterances } = transcribed.transcription
  transcribed.transcription.utterances = utterances.map((utterance, i) => ({
    ...utterance,
    speaker: 1 - i,
  }))
  assert.equal(formatResult(transcribed, 'txt'), 'Speaker 2: Good day.\nSpeaker 1: Hello.\n')
})

test('a Word document names the channels and is not written to a terminal', () => {
  const written = formatResult(
    result([
      [0, 'Good day.'],
      [1, 'Hello.'],
    ]),
    'docx',
  )
  const document = strFromU8(unzipSync(written as Uint8Array)['word/document.xml']!)
  assert.match(document, />0:10 <.*>Channel 2: <.*>Hello\.</)
  const stdout = new PassThrough()
  refuseTerminal('docx', stdout)
  refuseTerminal('txt', Object.assign(stdout, { isTTY: true }))
  assert.throws(() => refuseTerminal('docx', stdout), /docx is not text: redirect the output/)
})
