import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CheckExchange, conformanceOf } from '../../support/api/conformance.ts'
import { defaultLiveParams } from '../../support/live/sessions/default-live-params.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
let check: CheckExchange

before(async () => {
  server = await startServer()
  check = await conformanceOf(server)
})
after(() => server.close())

const id = '5f1d3a52-6d0f-4d8a-8c46-2b8e0b1f9a77'
const metadata = {
  audio_duration: 3.4,
  number_of_distinct_channels: 1,
  billing_time: 3.4,
  transcription_time: 0.81,
}

/** The wrapper of an add-on that has ended well. */
function found(results: unknown) {
  return { success: true, is_empty: false, exec_time: 0.5, error: null, results }
}

const error = { status_code: 503, exception: 'EngineUnavailable', message: 'it did not answer' }

/** The wrapper of an add-on that has failed. */
function failed(results: unknown) {
  return { success: false, is_empty: true, exec_time: 0.03, error, results }
}

const sentences = found(['Hi, this is Lena.'])
const utterance = {
  start: 0.42,
  end: 0.84,
  confidence: 0.94,
  channel: 0,
  speaker: 0,
  words: [
    { word: 'Hi,', start: 0.42, end: 0.6, confidence: 0.94 },
    { word: ' this', start: 0.66, end: 0.84, confidence: 0.94 },
  ],
  text: 'Hi, this',
  language: 'en',
}
const text = {
  full_transcript: 'Hi, this',
  languages: ['en'],
  utterances: [utterance],
  sentences: [sentences],
  subtitles: [{ format: 'srt', subtitles: '1\n00:00:00,420 --> 00:00:00,840\nHi, this\n' }],
}
const entity = { entity_type: 'NAME_GIVEN', text: 'Lena', start: 1.204, end: 1.52 }

const everyAddOn = {
  metadata,
  transcription: text,
  translation: found([{ error: null, ...text }]),
  summarization: found('Lena introduces herself.'),
  named_entity_recognition: found([entity]),
  sentiment_analysis: found('[{"text":"Hi","sentiment":"neutral"}]'),
  audio_to_llm: found([found({ prompt: 'Who called?', response: 'Lena.' })]),
  sentences,
  moderation: found('nothing'),
  name_consistency: found('Lena'),
  structured_data_extraction: found('{}'),
  display_mode: found(['Hi']),
  chapters: found([
    { headline: 'Hi', gist: 'Hi', summary: 'Hi', keywords: ['lena'], start: 0.42, end: 0.84 },
  ]),
}

const sentiment = { text: 'Hi', sentiment: 'neutral', emotion: 'neutral' }
const { text: _text, ...sentenceOf } = utterance
const nativeSentences = found([{ sentence: 'Hi, this', ...sentenceOf }])

const nativeForm = {
  ...everyAddOn,
  transcription: { ...text, sentences: [nativeSentences] },
  sentences: nativeSentences,
  sentiment_analysis: found([{ ...sentiment, start: 0.42, end: 0.84, channel: 0, speaker: 0 }]),
}

const everyFailure = {
  metadata,
  transcription: { full_transcript: '', languages: [], utterances: [], sentences: [failed(null)] },
  translation: failed(null),
  summarization: failed(null),
  named_entity_recognition: failed(null),
  sentiment_analysis: failed('[]'),
  audio_to_llm: found([failed(null)]),
  sentences: failed(null),
  moderation: failed(null),
  name_consistency: failed(null),
  structured_data_extraction: failed(null),
  display_mode: failed(null),
  chapters: failed(null),
  diarization: failed([]),
}

const live = {
  metadata,
  transcription: text,
  translation: failed(null),
  summarization: found('Lena'),
  named_entity_recognition: found([]),
  sentiment_analysis: found('[]'),
  messages: ['{"type":"speech_start"}'],
}

const { messages_config: flags } = defaultLiveParams
const liveParams = {
  ...defaultLiveParams,
  model: 'fast',
  callback: true,
  callback_config: { url: 'https://app.example.test/hooks', ...flags },
}

function checkJob(kind: string, fields: Record<string, unknown>) {
  const body = {
    id,
    request_id: 'G-5f1d3a52',
    version: 2,
    status: 'done',
    created_at: '2026-03-04T05:06:07.089Z',
    completed_at: '2026-03-04T05:06:09.089Z',
    error_code: null,
    post_session_metadata: {},
    kind,
    file: null,
    request_params: null,
    ...fields,
  }
  const headers = new Headers({ 'content-type': 'application/json', 'x-request-id': 'G-1' })
  for (const path of [`/v2/${kind}/${id}`, `/v2/transcription/${id}`]) {
    check({ method: 'GET', path, status: 200, headers, body })
  }
}

test('results with every add-on, successful or failed, match the description', () => {
  checkJob('pre-recorded', { result: everyAddOn })
  checkJob('pre-recorded', { result: everyFailure })
})

test('a result in the native format matches the description', () => {
  checkJob('pre-recorded', { result: nativeForm })
  checkJob('pre-recorded', { result: { ...nativeForm, sentiment_analysis: failed([]) } })
})

test('the job of a live session matches the description', () => {
  checkJob('live', { result: live, request_params: liveParams })
})

for (const [what, result] of Object.entries({
  'without a transcription': { metadata },
  'whose sentiments are null': { ...everyAddOn, sentiment_analysis: failed(null) },
  'whose failed diarization is null': { ...everyAddOn, diarization: failed(null) },
  'with an add-on that is null': { ...everyAddOn, summarization: null },
  'with a wrapper that lacks its error': {
    ...everyAddOn,
    summarization: { success: true, is_empty: false, exec_time: 1, results: 'x' },
  },
  'with an entity of no known type': {
    ...everyAddOn,
    named_entity_recognition: found([{ ...entity, entity_type: 'GDPR' }]),
  },
  'with a native sentiment that lacks its times': {
    ...everyAddOn,
    sentiment_analysis: found([sentiment]),
  },
  'with a native sentence that lacks its words': {
    ...everyAddOn,
    sentences: found([{ sentence: 'Hi' }]),
  },
  'with messages of a live session': { ...everyAddOn, messages: [] },
  'with two wrappers of sentences': {
    ...everyAddOn,
    transcription: { ...text, sentences: [sentences, sentences] },
  },
  'with a word that lacks its confidence': {
    ...everyAddOn,
    transcription: {
      ...text,
      utterances: [{ ...utterance, words: [{ word: 'Hi', start: 0, end: 1 }] }],
    },
  },
})) {
  test(`a result ${what} does not match the description`, () => {
    assert.throws(() => checkJob('pre-recorded', { result }), /against its schema/)
  })
}
