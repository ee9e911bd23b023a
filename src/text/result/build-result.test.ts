import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import type { AddOn } from '../add-ons/add-on.ts'
import type { TranscriptTransform } from '../transforms/transform.ts'
import { type BuildOptions, buildResult } from './build-result.ts'
import { AddOnFailedError, type Envelope } from './steps/envelope.ts'
import { recomputeAddOn } from './steps/retry-add-on.ts'

type BuiltResult = Record<string, Envelope> & {
  transcription: { full_transcript: string; sentences?: Envelope[]; subtitles?: unknown[] }
}

function transcriptOf(...lines: string[]): Transcript {
  const utterances = lines.map((line, i) => {
    const [language, ...texts] = line.split(' ')
    const words = texts.map((text, k) => {
      return { text, start: i + k / 10, end: i + k / 10 + 0.1, confidence: 0.9 }
    })
    return { channel: 0, language: language!, words }
  })
  return { utterances }
}

const counter: AddOn = {
  name: 'count',
  languages: ['en'],
  compute({ utterances }) {
    return { results: utterances.length, isEmpty: utterances.length === 0 }
  },
}

function built(
  transcript: Transcript,
  params: Record<string, unknown>,
  options: BuildOptions = {},
) {
  let ms = 0
  const result = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1, params }
  const now = () => (ms += 250)
  const usual = { now, transforms: [], addOns: [counter] }
  const made = buildResult(transcript, result, { ...usual, ...options }).result
  return made as unknown as BuiltResult
}

test('a requested add-on has an envelope, others have no key', () => {
  const { count, ...others } = built(transcriptOf('en one', 'en two'), { count: true })
  const envelope = { success: true, is_empty: false, exec_time: 0.25, error: null, results: 2 }
  assert.deepEqual(count, envelope)
  assert.deepEqual(Object.keys(others), ['metadata', 'transcription'])
  assert.deepEqual(Object.keys(built(transcriptOf('en one'), { count: false })), [
    'metadata',
    'transcription',
  ])
})

test('the last sentence of a recording gets its mark, that of a session keeps its text', () => {
  const transcript = transcriptOf('en Ask what you can')
  const result = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1, params: {} }
  const textOf = (made: unknown) => (made as BuiltResult).transcription.full_transcript
  const recording = buildResult(transcript, { ...result, channelMode: 'separate' }).result
  assert.equal(textOf(recording), 'Ask what you can.')
  assert.equal(textOf(buildResult(transcript, result).result), 'Ask what you can')
})

test('an empty transcript is not a failure', () => {
  const { count } = built(transcriptOf(), { count: true })
  const envelope = { success: true, is_empty: true, exec_time: 0.25, error: null, results: 0 }
  assert.deepEqual(count, envelope)
})

test('an add-on gets utterances in its languages, and fails if there are none', () => {
  assert.equal(built(transcriptOf('fr un', 'en one'), { count: true }).count!.results, 1)
  const { error, success } = built(transcriptOf('fr un', 'de eins'), { count: true }).count!
  const message = 'count supports only en; the recording is in fr, de'
  assert.deepEqual(error, { status_code: 422, exception: 'LanguageNotSupported', message })
  assert.equal(success, false)
})

test('an add-on that throws fails alone, and its error text is not exposed', () => {
  const broken: AddOn = {
    name: 'broken',
    languages: 'all',
    compute() {
      throw new Error('cannot read "my card is 4242"')
    },
  }
  const refusing: AddOn = {
    name: 'refusing',
    languages: 'all',
    compute() {
      throw new AddOnFailedError({ status_code: 413, exception: 'TooLong', message: 'too long' })
    },
  }
  const params = { broken: true, refusing: true, count: true }
  const addOns = [broken, refusing, counter]
  const result = built(transcriptOf('en one'), params, { addOns })
  assert.equal(result.broken!.error?.exception, 'AddonFailed')
  assert.equal(result.refusing!.error?.exception, 'TooLong')
  assert.equal(result.count!.results, 1)
  assert.ok(!JSON.stringify(result).includes('my card'))
})

test('a step given as failed is not run, and its error is reported', () => {
  const ran: string[] = []
  const onStep = (name: string) => void ran.push(name)
  const why = { status_code: 504, exception: 'AddonTimeout', message: 'late' }
  const options = { onStep, failedSteps: { count: why } }
  const { count } = built(transcriptOf('en one'), { count: true }, options)
  assert.deepEqual([count!.error, count!.results, ran], [why, null, ['count']])
})

test('transforms are applied before add-ons', () => {
  const shorten = {
    name: 'shorten',
    languages: 'all' as const,
    apply: ({ utterances }: Transcript) => ({ transcript: { utterances: utterances.slice(1) } }),
  }
  const params = { shorten: true, count: true }
  const result = built(transcriptOf('en one', 'en two'), params, { transforms: [shorten] })
  assert.equal(result.count!.results, 1)
  assert.equal(result.transcription.full_transcript, 'two')
  const same = built(transcriptOf('en one', 'en two'), { count: true }, { transforms: [shorten] })
  assert.equal(same.count!.results, 2)
})

test('an add-on gets the rounded times of the result, its length and the redacted entities', () => {
  const seen: Transcript[] = []
  const witness: AddOn = {
    ...counter,
    compute(transcript) {
      seen.push(transcript)
      return { results: null, isEmpty: true }
    },
  }
  const hidden = [{ type: 'AGE', text: '##', start: 0, end: 1 }]
  const redacting: TranscriptTransform = {
    name: 'redact',
    languages: 'all',
    apply: ({ utterances }) => ({ transcript: { utterances, hidden } }),
  }
  const [late, early] = transcriptOf('en late', 'en early').utterances as [Utterance, Utterance]
  late.words[0] = { text: 'late', start: 2.00049, end: 2.7777, confidence: 0.12349 }
  early.words[0] = { text: 'early', start: 1.0004, end: 1.9996, confidence: 0.8765 }
  const options = { transforms: [redacting], addOns: [witness] }
  built({ utterances: [late, early] }, { redact: true, count: true }, options)
  early.words[0] = { text: 'early', start: 1, end: 2, confidence: 0.877 }
  late.words[0] = { text: 'late', start: 2, end: 2.778, confidence: 0.123 }
  assert.deepEqual(seen, [{ utterances: [early, late], hidden, duration: 10 }])
})

test('an add-on without its engine fails with NotConfigured', () => {
  const params = { translation: true, audio_to_llm: true }
  const result = built(transcriptOf('en one'), params)
  for (const name of Object.keys(params)) {
    assert.equal(result[name]!.error?.status_code, 501)
    assert.equal(result[name]!.error?.exception, 'NotConfigured')
  }
})

test('a failed diarization has an envelope, a successful one only speakers', () => {
  const error = { status_code: 500, exception: 'AddonFailed', message: 'diarization crashed' }
  const measures = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1 }
  const requested = {
    ...measures,
    params: { diarization: true },
    diarizationError: error,
    diarizationSeconds: 2,
  }
  const failed = buildResult(transcriptOf('en one'), requested).result.diarization as Envelope
  assert.deepEqual([failed.success, failed.error, failed.results], [false, error, []])
  assert.equal(failed.exec_time, 2)
  assert.ok(!('diarization' in built(transcriptOf('en one'), { diarization: true })))
})

test('sentences are listed twice, and subtitles without an envelope', () => {
  const make = (results: unknown) => () => ({ results, isEmpty: false })
  const addOns: AddOn[] = [
    { name: 'sentences', languages: 'all', compute: make(['One.']) },
    { name: 'subtitles', languages: 'all', compute: make([{ format: 'srt', subtitles: '' }]) },
  ]
  const params = { sentences: true, subtitles: true }
  const result = built(transcriptOf('en One.'), params, { addOns })
  assert.deepEqual(result.transcription.sentences, [result.sentences])
  assert.deepEqual(result.transcription.subtitles, [{ format: 'srt', subtitles: '' }])
  assert.ok(!('subtitles' in result))
  const given = { subtitles: { status_code: 500, exception: 'AddonFailed', message: 'oops' } }
  const failed = built(transcriptOf('en One.'), params, { addOns, failedSteps: given })
  assert.deepEqual(failed.transcription.subtitles, [])
})

test('subtitles end with the recording, also those of a translation', () => {
  const params = {
    subtitles: true,
    subtitles_config: { minimum_duration: 20 },
    translation: true,
    translation_config: { target_languages: ['fr'] },
  }
  const options = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1, params }
  const text = transcriptOf('en one')
  const { result, prepared } = buildResult(text, { ...options, served: ['translation'] })
  assert.match(JSON.stringify(result.transcription), /00:00:00,000 --> 00:00:10,000/)
  const retry = { name: 'translation', result: JSON.stringify(result), format: 'string' as const }
  const [{ name, seconds }] = prepared as [(typeof prepared)[number]]
  const serviceResponses = { name, seconds, responses: [{ texts: ['un'] }] }
  const merged = recomputeAddOn(
    { ...retry, params: JSON.stringify(params), served: ['translation'], serviceResponses },
    { now: () => 0, onStep: () => {}, failedSteps: {} },
  )
  assert.ok(merged.outcome === 'made')
  assert.match(merged.response, /00:00:00,000 --> 00:00:10,000/)
})

test('unexpected errors of add-ons are logged, intended failures are not', () => {
  const oops = new RangeError('oops')
  const throwing = (name: string, error: Error): AddOn => ({
    name,
    languages: 'all',
    compute() {
      throw error
    },
  })
  const why = { status_code: 413, exception: 'TooLong', message: 'too long' }
  const addOns = [throwing('broken', oops), throwing('refusing', new AddOnFailedError(why))]
  const reporting: TranscriptTransform = {
    name: 'reporting',
    languages: 'all',
    reports: true,
    apply() {
      throw oops
    },
  }
  const reported: unknown[] = []
  const onFault = (name: string, error: unknown) => void reported.push([name, error])
  const params = { broken: true, refusing: true, reporting: true }
  built(transcriptOf('en one'), params, { addOns, transforms: [reporting], onFault })
  assert.deepEqual(reported, [
    ['reporting', oops],
    ['broken', oops],
  ])
})

test('the result format is passed to add-ons and their failures', () => {
  const forms: AddOn = {
    name: 'forms',
    languages: 'all',
    compute: (_transcript, _params, { format }) => ({ results: format, isEmpty: false }),
  }
  const why = { status_code: 500, exception: 'AddonFailed', message: 'oops' }
  for (const [format, empty] of [
    ['string', '[]'],
    ['native', []],
  ] as const) {
    const params = { forms: true, sentiment_analysis: true }
    const result = { audioDuration: 1, distinctChannels: 1, transcriptionTime: 1, params, format }
    const sentiment = { ...forms, name: 'sentiment_analysis' }
    const options = { addOns: [forms, sentiment], transforms: [] }
    const given = { failedSteps: { sentiment_analysis: why } }
    const made = buildResult(transcriptOf('en one'), result, { ...options, ...given })
      .result as BuiltResult
    assert.deepEqual([made.forms!.results, made.sentiment_analysis!.results], [format, empty])
    const late: AddOn = {
      ...sentiment,
      compute() {
        throw new AddOnFailedError(why)
      },
    }
    const refused = buildResult(transcriptOf('en one'), result, { ...options, addOns: [late] })
    assert.deepEqual((refused.result as BuiltResult).sentiment_analysis!.results, empty)
  }
})
