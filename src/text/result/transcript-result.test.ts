import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { buildTranscriptResult, transcriptOf } from './transcript-result.ts'

const options = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1, params: {} }

/**
 * Parses `say('en 0 hi 1 there 2')`: language, channel, then each word with the second it begins
 * in.
 */
function say(text: string): Utterance {
  const [language, channel, ...rest] = text.split(' ')
  const words = []
  for (let i = 0; i < rest.length; i += 2) {
    const start = Number(rest[i + 1])
    words.push({ text: rest[i]!, start, end: start + 0.5, confidence: 0.9 })
  }
  return { language: language!, channel: Number(channel), words }
}

function transcribe(utterances: Utterance[], given: Partial<typeof options> = {}) {
  return buildTranscriptResult({ utterances }, { ...options, ...given })
}

test('an utterance has the documented fields, with a space before later words', () => {
  const utterance = say('en 0 Hi, 1 there. 2')
  utterance.words[1]!.confidence = 0.8
  assert.deepEqual(transcribe([utterance]).transcription, {
    full_transcript: 'Hi, there.',
    languages: ['en'],
    utterances: [
      {
        start: 1,
        end: 2.5,
        confidence: 0.85,
        channel: 0,
        words: [
          { word: 'Hi,', start: 1, end: 1.5, confidence: 0.9 },
          { word: ' there.', start: 2, end: 2.5, confidence: 0.8 },
        ],
        text: 'Hi, there.',
        language: 'en',
      },
    ],
  })
})

test('languages without spaces are written without them', () => {
  const { utterances } = transcribe([say('ja 0 今日 1 は 2')]).transcription
  assert.equal(utterances[0]?.text, '今日は')
})

test('a speaker is included if known', () => {
  const { utterances } = transcribe([{ ...say('en 0 hi 1'), speaker: 2 }]).transcription
  assert.equal(utterances[0]?.speaker, 2)
})

test('utterances are sorted by start and channel', () => {
  const withWords = [say('en 1 b 1'), say('en 0 c 3'), say('en 0 a 1')]
  assert.equal(transcribe(withWords).transcription.full_transcript, 'a b c')
})

test('languages are sorted by spoken duration', () => {
  const withWords = [say('en 0 hi 0'), say('fr 0 un 1 deux 5'), say('de 0 ja 7')]
  assert.deepEqual(transcribe(withWords).transcription.languages, ['fr', 'en', 'de'])
})

test('times and confidences have three decimals, durations six', () => {
  const utterance = say('en 0 hi 0')
  Object.assign(utterance.words[0]!, { start: 0.12345, end: 0.98765, confidence: 0.66666 })
  const result = transcribe([utterance], {
    audioDuration: 1.23456789,
    distinctChannels: 2,
    transcriptionTime: 0.123456789,
  })
  assert.deepEqual(result.metadata, {
    audio_duration: 1.234568,
    number_of_distinct_channels: 2,
    billing_time: 2.469136,
    transcription_time: 0.123457,
    warnings: [],
  })
  const { start, end, confidence } = result.transcription.utterances[0]!
  assert.deepEqual([start, end, confidence], [0.123, 0.988, 0.667])
})

test('a recording without speech has an empty transcription', () => {
  const empty = { full_transcript: '', languages: [], utterances: [] }
  assert.deepEqual(transcribe([]).transcription, empty)
  assert.deepEqual(transcribe([{ channel: 0, language: 'en', words: [] }]).transcription, empty)
})

test('a result converted to a transcript yields the same result', () => {
  const utterances = [say('en 0 Hi, 1 there. 2'), { ...say('zh 1 你好 3 。 4'), speaker: 1 }]
  const { transcription } = transcribe(utterances)
  assert.deepEqual(transcriptOf(transcription.utterances), { utterances })
  assert.deepEqual(
    transcribe(transcriptOf(transcription.utterances).utterances),
    transcribe(utterances),
  )
})
