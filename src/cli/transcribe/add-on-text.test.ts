import assert from 'node:assert/strict'
import test from 'node:test'
import type {
  ApiNamedEntity,
  ApiPreRecordedResult,
  ApiSentenceSentiment,
} from '../client/api-types.ts'
import {
  type AddOnResponse,
  describeFailures,
  formatAddOns,
  retriableAddOns,
} from './add-on-text.ts'

type AddOns = Omit<ApiPreRecordedResult, 'metadata' | 'transcription'>

function result(addOns: AddOns): ApiPreRecordedResult {
  const metadata = {
    audio_duration: 60,
    number_of_distinct_channels: 1,
    billing_time: 60,
    transcription_time: 1,
  }
  const transcription = { full_transcript: '', languages: [], utterances: [] }
  return { metadata, transcription, ...addOns }
}

function made<T>(results: T, isEmpty = false): AddOnResponse<T> {
  return { success: true, is_empty: isEmpty, exec_time: 0, error: null, results }
}

const judged: ApiSentenceSentiment = {
  text: 'I love it.',
  sentiment: 'positive',
  emotion: 'contentment',
  start: 59.96,
  end: 61,
  channel: 0,
}

test('a result without add-ons has no text below the transcript', () => {
  assert.equal(formatAddOns(result({})), '')
})

test('a summary is shown under a heading', () => {
  assert.equal(
    formatAddOns(result({ summarization: made('- One.\n- Two.') })),
    '\nSummary:\n- One.\n- Two.\n',
  )
})

test('chapters are shown as a table of their titles', () => {
  const texts = {
    headline: 'The roof',
    gist: 'It leaks.',
    summary: 'It leaks.',
    keywords: ['roof'],
  }
  assert.equal(
    formatAddOns(result({ chapters: made([{ ...texts, start: 61, end: 120 }]) })),
    '\nChapters:\nstart   chapter\n1:01.0  The roof\n',
  )
})

test('entities are shown as a table, with hours only where needed', () => {
  const entities: ApiNamedEntity[] = [
    { entity_type: 'NAME_GIVEN', text: 'Lena', start: 1.25, end: 2 },
    { entity_type: 'MONEY', text: '$5', start: 3600 + 62.04, end: 3663 },
  ]
  assert.equal(
    formatAddOns(result({ named_entity_recognition: made(entities) })),
    `
Entities:
start      type        text
0:01.3     NAME_GIVEN  Lena
1:01:02.0  MONEY       $5
`,
  )
})

test('sentiment is shown as a table for native and string results', () => {
  const table = `
Sentiment:
start   sentiment  emotion      sentence
1:00.0  positive   contentment  I love it.
`
  const asText = made(JSON.stringify([judged]))
  assert.equal(formatAddOns(result({ sentiment_analysis: asText })), table)
  assert.equal(formatAddOns(result({ sentiment_analysis: made([judged]) })), table)
})

test("an add-on without results shows 'none'", () => {
  const text = formatAddOns(result({ named_entity_recognition: made([], true) }))
  assert.equal(text, '\nEntities:\nnone\n')
})

test('a failed add-on is reported as a failure and not shown in the text', () => {
  const error = { status_code: 500, exception: 'Broken', message: 'entities broke down' }
  const failed = { success: false, is_empty: true, exec_time: 0, error, results: null }
  const both = result({ named_entity_recognition: failed, summarization: made('Yes.') })
  assert.equal(formatAddOns(both), '\nSummary:\nYes.\n')
  assert.deepEqual(describeFailures(both), ['named_entity_recognition failed: entities broke down'])
  const fixed = {
    name_consistency: { ...failed, results: null },
    diarization: { ...failed, results: [] },
  }
  assert.deepEqual(retriableAddOns({ ...both, ...fixed } as typeof both), [
    'named_entity_recognition',
  ])
})

test('translations and answers are shown, and single failures reported', () => {
  const error = { status_code: 502, exception: 'ServiceFailed', message: 'it is down' }
  const german = {
    error: null,
    full_transcript: 'Hallo.',
    languages: ['de'],
    utterances: [
      { start: 0, end: 1, confidence: 1, channel: 0, language: 'de', text: 'Hallo.', words: [] },
    ],
  }
  const french = { error, full_transcript: '', languages: ['fr'], utterances: [] }
  const responses = [
    made({ prompt: 'Who?', response: 'Lena.' }),
    { ...made({ prompt: 'Why?', response: null }), success: false, error },
  ]
  const whole = result({ translation: made([german, french]), audio_to_llm: made(responses) })
  assert.equal(formatAddOns(whole), '\nTranslation (de):\nHallo.\n\nWho?\nLena.\n')
  assert.deepEqual(describeFailures(whole), [
    'the translation into fr failed: it is down',
    'the answer to "Why?" failed: it is down',
  ])
  assert.deepEqual(retriableAddOns(whole), ['translation', 'audio_to_llm'])
})
