import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript } from '../../../transcript/transcript.ts'
import type { AddOn } from '../../add-ons/add-on.ts'
import { AddOnFailedError } from './envelope.ts'
import { type RetryOptions, type RetryResult, recomputeAddOn } from './retry-add-on.ts'

const failure = {
  success: false,
  is_empty: true,
  exec_time: 0,
  error: { status_code: 500, exception: 'AddonFailed', message: 'it broke down' },
  results: null,
}

/** The stored result of a job with the words "Hi, there." whose add-ons have failed. */
const stored = {
  metadata: { audio_duration: 2 },
  transcription: {
    full_transcript: 'Hi, there.',
    languages: ['en'],
    utterances: [
      {
        start: 0.5,
        end: 1.5,
        confidence: 0.9,
        channel: 1,
        speaker: 0,
        words: [
          { word: 'Hi,', start: 0.5, end: 1, confidence: 0.9 },
          { word: ' there.', start: 1, end: 1.5, confidence: 0.9 },
        ],
        text: 'Hi, there.',
        language: 'en',
      },
    ],
    sentences: [failure],
    subtitles: [],
  },
  named_entity_recognition: failure,
  translation: failure,
  sentences: failure,
}

const seen: Transcript[] = []
const remember: AddOn = {
  name: 'remember',
  languages: 'all',
  compute(transcript) {
    seen.push(transcript)
    return { results: 'seen', isEmpty: false }
  },
}

function retry(
  name: string,
  result: object = stored,
  options: Partial<RetryOptions> & { format?: 'native' } = {},
): RetryResult {
  const { format = 'string', ...run } = options
  const requested = [...Object.keys(stored), 'subtitles', 'diarization', 'remember']
  const params = Object.fromEntries(requested.map((switched) => [switched, true]))
  const texts = { result: JSON.stringify(result), params: JSON.stringify(params) }
  return recomputeAddOn(
    { name, ...texts, format },
    { onStep: () => {}, failedSteps: {}, now: () => 0, ...run },
  )
}

/** Returns the new result and the response, parsed. */
function made(retried: RetryResult) {
  assert.equal(retried.outcome, 'made')
  const { result, response: answer } = retried as RetryResult & { outcome: 'made' }
  return { result: JSON.parse(result), answer: JSON.parse(answer) }
}

const succeeded = { success: true, is_empty: false, exec_time: 0, error: null }

test('a retried add-on is replaced in place, and nothing else changes', () => {
  const { result, answer } = made(retry('named_entity_recognition'))
  assert.deepEqual(answer, { ...succeeded, is_empty: true, results: [] })
  assert.deepEqual(result, { ...stored, named_entity_recognition: answer })
  assert.deepEqual(Object.keys(result), Object.keys(stored))
})

test('retried sentences are stored in both places, in the configured format', () => {
  const { result, answer } = made(retry('sentences'))
  assert.deepEqual(answer, { ...succeeded, results: ['Hi, there.'] })
  const transcription = { ...stored.transcription, sentences: [answer] }
  assert.deepEqual(result, { ...stored, transcription, sentences: answer })
  const native = made(retry('sentences', stored, { format: 'native' })).answer
  assert.deepEqual([native.results[0].sentence, native.results[0].speaker], ['Hi, there.', 0])
})

test('retried subtitles are stored in the transcription and returned as files', () => {
  const { result, answer } = made(retry('subtitles'))
  assert.match(answer[0].subtitles, /Hi, there\./)
  assert.deepEqual(result.transcription, { ...stored.transcription, subtitles: answer })
  assert.ok(!('subtitles' in result))
})

test('a retried add-on gets the words of the result without spaces', () => {
  made(retry('remember', stored, { addOns: [remember] }))
  const words = [
    { text: 'Hi,', start: 0.5, end: 1, confidence: 0.9 },
    { text: 'there.', start: 1, end: 1.5, confidence: 0.9 },
  ]
  const utterances = [{ channel: 1, language: 'en', speaker: 0, words }]
  assert.deepEqual(seen, [{ utterances, duration: 2 }])
})

test('a requested add-on missing from the result is added', () => {
  const { result } = made(retry('remember', stored, { addOns: [remember] }))
  assert.equal(result.remember.results, 'seen')
})

test('a retry that fails reports its error, also without an engine', () => {
  const why = { status_code: 504, exception: 'AddonTimeout', message: 'late' }
  const steps: string[] = []
  const options = {
    failedSteps: { sentences: why },
    onStep: (name: string) => void steps.push(name),
  }
  const { result } = made(retry('sentences', stored, options))
  assert.deepEqual([result.sentences.error, result.transcription.sentences[0].error], [why, why])
  assert.deepEqual(steps, ['sentences'])
  assert.equal(made(retry('translation')).answer.error.exception, 'NotConfigured')
  const subtitles = made(retry('subtitles', stored, { failedSteps: { subtitles: why } }))
  assert.deepEqual([subtitles.answer, subtitles.result], [[], stored])
})

test('parts that succeeded earlier are kept if they fail now', () => {
  const why = { status_code: 502, exception: 'ServiceFailed', message: 'it is down' }
  const part = (text: string, error: object | null = null) => ({ text, error })
  const before = [part('Bonjour'), part('', why), part('', why)]
  const partly = { ...succeeded, is_empty: false, results: before }
  const retried = (results: unknown, error?: typeof why) => {
    const add: AddOn = {
      name: 'remember',
      languages: 'all',
      compute() {
        if (error) throw new AddOnFailedError(error)
        return { results, isEmpty: false }
      },
    }
    const result = { ...stored, remember: partly }
    return made(retry('remember', result, { addOns: [add] })).result.remember
  }
  const after = [part('', why), part('Hallo'), part('', why)]
  assert.deepEqual(retried(after).results, [before[0], after[1], after[2]])
  assert.equal(retried(after).success, true)
  assert.deepEqual(retried(null, why), partly)
})

test('an add-on that has not failed is not retried', () => {
  const transcription = { ...stored.transcription, subtitles: [{ format: 'srt', subtitles: '' }] }
  const done = { ...stored, sentences: succeeded, transcription }
  for (const [name, outcome] of Object.entries({
    nothing: 'unknown',
    constructor: 'unknown',
    custom_spelling: 'unrepeatable',
    name_consistency: 'unrepeatable',
    diarization: 'unrepeatable',
    summarization: 'not-requested',
    sentences: 'succeeded',
    subtitles: 'succeeded',
  })) {
    assert.deepEqual(retry(name, done), { outcome }, name)
  }
})
