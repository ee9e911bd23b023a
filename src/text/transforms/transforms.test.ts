import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript } from '../../transcript/transcript.ts'
import { type BuildOptions, buildResult } from '../result/build-result.ts'
import { AddOnFailedError, type Envelope } from '../result/steps/envelope.ts'
import { RequiredStepError } from '../result/steps/run-transform.ts'
import type { TranscriptTransform } from './transform.ts'

function say(...lines: string[]): Transcript {
  const utterances = lines.map((line, i) => {
    const words = line.split(' ').map((text, k) => {
      return { text, start: i + k / 10, end: i + k / 10 + 0.1, confidence: 0.9 }
    })
    return { channel: 0, language: 'en', words }
  })
  return { utterances }
}

function built(
  transcript: Transcript,
  params: Record<string, unknown>,
  options: BuildOptions = {},
) {
  const result = { audioDuration: 10, distinctChannels: 1, transcriptionTime: 1, params }
  return buildResult(transcript, result, options)
}

const hiding: TranscriptTransform = {
  name: 'hiding',
  languages: 'all',
  required: true,
  apply: ({ utterances }: Transcript) => {
    const redacted = [{ channel: 0, start: 0, end: 0.1 }]
    return { transcript: { utterances: utterances.slice(1) }, redacted }
  },
}

test("a transform's redacted spans are returned beside the result", () => {
  const { redacted } = built(say('one', 'two'), { hiding: true }, { transforms: [hiding] })
  assert.deepEqual(redacted, [{ channel: 0, start: 0, end: 0.1 }])
  assert.deepEqual(built(say('one'), {}, { transforms: [hiding] }).redacted, [])
})

test('without a required transform there is no result', () => {
  const why = { status_code: 500, exception: 'AddonFailed', message: 'hiding crashed' }
  function throwing(error: Error): TranscriptTransform {
    return {
      ...hiding,
      apply() {
        throw error
      },
    }
  }
  const run = (options: BuildOptions) => () => built(say('one'), { hiding: true }, options)
  assert.throws(run({ transforms: [hiding], failedSteps: { hiding: why } }), RequiredStepError)
  const refusing = throwing(new AddOnFailedError({ ...why, message: 'it knows en' }))
  assert.throws(run({ transforms: [refusing] }), (error) => {
    return error instanceof RequiredStepError && error.message === 'it knows en'
  })
  // The error breaks the step down, and then comes back in `given`.
  assert.throws(run({ transforms: [throwing(new TypeError('it quotes'))] }), TypeError)
})

test('redaction runs after all other transforms and before add-ons', () => {
  const { result } = built(say('My name is leena.'), {
    pii_redaction: true,
    custom_spelling: true,
    named_entity_recognition: true,
    name_consistency: true,
    sentences: true,
    custom_spelling_config: { spelling_dictionary: { Lena: ['leena'] } },
  })
  const { transcription, named_entity_recognition } = result as {
    transcription: { full_transcript: string; sentences: [Envelope] }
    named_entity_recognition: { results: { text: string }[] }
  }
  assert.equal(transcription.full_transcript, 'My name is [NAME_GIVEN_1].')
  assert.deepEqual(transcription.sentences[0].results, ['My name is [NAME_GIVEN_1].'])
  assert.deepEqual(
    named_entity_recognition.results.map(({ text }) => text),
    ['[NAME_GIVEN_1]'],
  )
})

test('name changes are hidden if the transcript is redacted', () => {
  const lines = ['I met Katherine.', 'Then Catherine came.', 'And Catherine left.']
  const changesOf = (pii_redaction: boolean) => {
    const { result } = built(say(...lines), { name_consistency: true, pii_redaction })
    return JSON.parse(String((result.name_consistency as Envelope).results)) as unknown
  }
  assert.deepEqual(changesOf(false), [{ from: 'Katherine', to: 'Catherine', count: 1 }])
  assert.deepEqual(changesOf(true), [{ from: '[REDACTED]', to: '[REDACTED]', count: 1 }])
})

test('number, filler and profanity styles are applied last, also after redaction', () => {
  const transcript = say('um Anna paid twenty five damn dollars')
  const params = {
    pii_redaction: true,
    pii_redaction_config: { entity_types: 'NAME' },
    number_formatting: true,
    filler_removal: true,
    profanity_filter: true,
  }
  const { transcription } = built(transcript, params).result as {
    transcription: { full_transcript: string }
  }
  assert.equal(transcription.full_transcript, '[NAME_1] paid 25 d*** dollars')
  const words = { number_formatting: true, number_formatting_config: { style: 'words' } }
  const { result } = built(say('I paid 25 dollars'), words)
  assert.match(JSON.stringify(result), /"I paid twenty-five dollars"/)
})
