import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript } from '../../transcript/transcript.ts'
import { nativeSentences, sentences } from './sentences.ts'

const words = [
  { text: 'Hi,', start: 0.5, end: 0.75, confidence: 0.9 },
  { text: 'Lena.', start: 0.75, end: 1.00049, confidence: 0.8 },
  { text: 'Bye.', start: 1.25, end: 1.5, confidence: 1 },
]
const transcript: Transcript = { utterances: [{ channel: 1, language: 'en', words, speaker: 2 }] }

test('sentences are strings in time order', () => {
  assert.deepEqual(sentences.compute(transcript, {}, { format: 'string' }), {
    results: ['Hi, Lena.', 'Bye.'],
    isEmpty: false,
  })
})

test('native sentences are objects', () => {
  const { results, isEmpty } = sentences.compute(transcript, {}, { format: 'native' })
  assert.deepEqual([results, isEmpty], [nativeSentences(transcript), false])
})

test('a transcript without speech has no sentences', () => {
  assert.deepEqual(sentences.compute({ utterances: [] }, {}, { format: 'string' }), {
    results: [],
    isEmpty: true,
  })
})

test('sentences support every language', () => {
  assert.equal(sentences.languages, 'all')
})

test('native sentences have words like utterances', () => {
  const [first] = nativeSentences(transcript)
  assert.deepEqual(first, {
    sentence: 'Hi, Lena.',
    start: 0.5,
    end: 1,
    words: [
      { word: 'Hi,', start: 0.5, end: 0.75, confidence: 0.9 },
      { word: ' Lena.', start: 0.75, end: 1, confidence: 0.8 },
    ],
    confidence: 0.85,
    language: 'en',
    speaker: 2,
    channel: 1,
  })
})

test('native sentences without a speaker omit the field', () => {
  const [first] = nativeSentences({ utterances: [{ channel: 0, language: 'en', words }] })
  assert.equal(Object.hasOwn(first!, 'speaker'), false)
})
