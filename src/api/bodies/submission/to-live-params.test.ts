import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLiveParams } from '../../../../test/support/live/sessions/default-live-params.ts'
import { readConfig } from '../../../config/config.ts'
import { liveRequest } from '../../schemas/live/live-request.ts'
import { type BodySettings, createBodyParser } from '../parsing/parse-body.ts'
import { toValidRequest } from './to-submission.ts'

const config = readConfig({
  STENO_MODEL_ALIASES: 'nova=stt-1,best=stt-3',
  STENO_DEFAULT_MODEL_LABEL: 'usual',
})

/** Returns the submission of a body; throws when it is refused. */
function submission(body: unknown, settings: BodySettings = config) {
  const bytes = Buffer.from(JSON.stringify(body))
  const read = createBodyParser(settings)
  return toValidRequest(read({ kind: 'live', bytes, wantsFingerprint: false }))
}

function params(body: unknown): Record<string, unknown> {
  return submission(body).params
}

/** Returns the lines with which a request is refused. */
function lines(body: unknown, env: Record<string, string> = {}): readonly string[] {
  const settings = { ...config, ...(env.STENO_UNKNOWN_FIELDS && readConfig(env)) }
  try {
    submission(body, settings)
  } catch (error) {
    return (error as { validationErrors?: readonly string[] }).validationErrors ?? [String(error)]
  }
  return []
}

/** The parameters of a request without fields; the model has the configured name. */
const defaults = { ...defaultLiveParams, model: 'usual' }

/** The default flags of a callback. */
const callbackFlags = {
  receive_partial_transcripts: false,
  receive_final_transcripts: true,
  receive_speech_events: false,
  receive_pre_processing_events: true,
  receive_realtime_processing_events: true,
  receive_post_processing_events: true,
  receive_acknowledgments: false,
  receive_errors: false,
  receive_lifecycle_events: true,
}

test('an empty request yields all fields with their defaults, in the documented order', () => {
  assert.deepEqual(params({}), defaults)
  assert.equal(JSON.stringify(params({})), JSON.stringify(defaults))
})

test('null is the same as absent, at every depth', () => {
  const nothing = Object.fromEntries(
    Object.keys(liveRequest(config).properties).map((name) => [name, null]),
  )
  assert.deepEqual(params(nothing), defaults)
  const inner = {
    language_config: { languages: null, code_switching: null },
    pre_processing: { speech_threshold: null },
    realtime_processing: { translation: null, translation_config: null },
    messages_config: { receive_errors: null },
  }
  assert.deepEqual(params(inner), defaults)
})

test('given values are kept and missing ones get their defaults', () => {
  const given = {
    encoding: 'wav/pcm',
    bit_depth: 24,
    sample_rate: 44100,
    channels: 8,
    model: 'nova',
    endpointing: 10,
    maximum_duration_without_endpointing: 60,
    language_config: { languages: ['fr-CA', 'en', 'fr'] },
    pre_processing: { speech_threshold: 0 },
    realtime_processing: {
      custom_vocabulary_config: { vocabulary: ['a', { value: 'b', language: 'jp' }] },
      custom_spelling: true,
      custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } },
      translation: true,
      translation_config: { target_languages: ['wo'] },
    },
    post_processing: { summarization: true, summarization_config: {}, chapterization: true },
    messages_config: { receive_partial_transcripts: true },
    callback_config: { receive_errors: true },
    custom_metadata: { room: 42 },
  }
  assert.deepEqual(params(given), {
    ...defaults,
    bit_depth: 24,
    sample_rate: 44100,
    channels: 8,
    model: 'nova',
    endpointing: 10,
    maximum_duration_without_endpointing: 60,
    language_config: { languages: ['fr', 'en'], code_switching: false },
    pre_processing: { audio_enhancer: false, speech_threshold: 0 },
    realtime_processing: {
      ...defaults.realtime_processing,
      custom_vocabulary_config: {
        vocabulary: ['a', { value: 'b', language: 'ja' }],
        default_intensity: 0.5,
      },
      custom_spelling: true,
      custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } },
      translation: true,
      translation_config: {
        target_languages: ['wo'],
        model: 'base',
        match_original_utterances: true,
        lipsync: true,
        context_adaptation: true,
        informal: false,
      },
    },
    post_processing: {
      summarization: true,
      summarization_config: { type: 'general' },
      chapterization: true,
    },
    messages_config: { ...defaults.messages_config, receive_partial_transcripts: true },
    callback_config: { ...callbackFlags, receive_errors: true },
  })
  const { customMetadata } = submission(given)
  assert.deepEqual(customMetadata, { room: 42 })
})

test('A-law and µ-law always have a bit depth of 8', () => {
  for (const encoding of ['wav/alaw', 'wav/ulaw']) {
    for (const bits of [{}, { bit_depth: 8 }, { bit_depth: 16 }, { bit_depth: 32 }]) {
      assert.equal(params({ encoding, ...bits }).bit_depth, 8)
    }
  }
})

const legacy: [title: string, older: object, modern: object][] = [
  ['language', { language: 'en-US' }, { language_config: { languages: ['en'] } }],
  [
    'enable_code_switching',
    { enable_code_switching: true, code_switching_config: { languages: ['en', 'fr'] } },
    { language_config: { languages: ['en', 'fr'], code_switching: true } },
  ],
  ['detect_language', { language: 'en', detect_language: true }, {}],
  [
    'custom_vocabulary as a list',
    { realtime_processing: { custom_vocabulary: ['a'] } },
    {
      realtime_processing: {
        custom_vocabulary: true,
        custom_vocabulary_config: { vocabulary: ['a'] },
      },
    },
  ],
  [
    'callback_url',
    { callback_url: 'https://c.example/x' },
    { callback: true, callback_config: { url: 'https://c.example/x' } },
  ],
  [
    'callback_url beside callback_config, which wins',
    {
      callback_url: 'https://c.example/x',
      callback_config: { url: 'https://d.example', receive_errors: true },
    },
    { callback: true, callback_config: { url: 'https://d.example', receive_errors: true } },
  ],
  [
    'fields that are no longer read',
    {
      chapterization: 1,
      words_accurate_timestamps: true,
      accurate_words_timestamps: true,
      context_prompt: {},
      realtime_processing: { words_accurate_timestamps: true },
      post_processing: { chapterization_config: {} },
    },
    {},
  ],
]

for (const [title, older, modern] of legacy) {
  test(`a legacy field maps to its current form: ${title}`, () => {
    assert.deepEqual(params(older), params(modern))
    assert.deepEqual(lines(older, { STENO_UNKNOWN_FIELDS: 'reject' }), [])
  })
}

test('unknown fields are ignored or refused, at every depth', () => {
  const body = { region: 'eu', pre_processing: { loud: true }, messages_config: { receive_x: 1 } }
  assert.deepEqual(params(body), defaults)
  assert.deepEqual(lines(body, { STENO_UNKNOWN_FIELDS: 'reject' }), [
    'pre_processing.loud must not be given: unknown field',
    'messages_config.receive_x must not be given: unknown field',
    'region must not be given: unknown field',
  ])
})

for (const [body, line] of [
  [{ encoding: 'wav/mp3' }, 'encoding must be one of: wav/pcm, wav/alaw, wav/ulaw'],
  [{ bit_depth: 12 }, 'bit_depth must be one of: 8, 16, 24, 32'],
  [{ bit_depth: '16' }, 'bit_depth must be one of: 8, 16, 24, 32'],
  [{ sample_rate: 22050 }, 'sample_rate must be one of: 8000, 16000, 32000, 44100, 48000'],
  [{ sample_rate: '16000' }, 'sample_rate must be one of: 8000, 16000, 32000, 44100, 48000'],
  [{ channels: 0 }, 'channels must not be less than 1'],
  [{ channels: 9 }, 'channels must not be greater than 8'],
  [{ channels: 1.5 }, 'channels must be an integer'],
  [{ model: 'stt-3' }, 'model must be one of: stt-1, nova'],
  [{ model: 'best' }, 'model must be one of: stt-1, nova'],
  [{ endpointing: 0.009 }, 'endpointing must not be less than 0.01'],
  [{ endpointing: 10.1 }, 'endpointing must not be greater than 10'],
  [{ endpointing: '1' }, 'endpointing must be a number'],
  [
    { maximum_duration_without_endpointing: 4.9 },
    'maximum_duration_without_endpointing must not be less than 5',
  ],
  [
    { maximum_duration_without_endpointing: 60.1 },
    'maximum_duration_without_endpointing must not be greater than 60',
  ],
  [
    { pre_processing: { speech_threshold: 1.1 } },
    'pre_processing.speech_threshold must not be greater than 1',
  ],
  [
    { pre_processing: { speech_threshold: -0.1 } },
    'pre_processing.speech_threshold must not be less than 0',
  ],
  [{ pre_processing: true }, 'pre_processing must be an object'],
  [{ messages_config: { receive_errors: 1 } }, 'messages_config.receive_errors must be a boolean'],
  [
    { realtime_processing: { translation: true } },
    'realtime_processing.translation_config is required',
  ],
  [
    { realtime_processing: { translation_config: { target_languages: [] } } },
    'realtime_processing.translation_config.target_languages must hold at least 1 item',
  ],
  [
    { realtime_processing: { custom_vocabulary: true } },
    'realtime_processing.custom_vocabulary_config is required',
  ],
  [
    { realtime_processing: { custom_vocabulary_config: {} } },
    'realtime_processing.custom_vocabulary_config.vocabulary is required',
  ],
  [
    { realtime_processing: { custom_spelling: true } },
    'realtime_processing.custom_spelling_config is required',
  ],
  [
    { post_processing: { summarization_config: { type: 'long' } } },
    'post_processing.summarization_config.type must be one of: general, bullet_points, concise',
  ],
  [{ post_processing: { audio_to_llm: true } }, 'post_processing.audio_to_llm_config is required'],
  [{ callback: true }, 'callback_config.url is required'],
  [{ callback: true, callback_config: {} }, 'callback_config.url is required'],
  [{ callback: true, callback_config: 1 }, 'callback_config must be an object'],
  [
    { callback: true, callback_config: { url: 'mailto:a@b' } },
    'callback_config.url must be an absolute http or https URL',
  ],
  [
    { custom_metadata: { a: 'x'.repeat(2000) } },
    'custom_metadata must not be longer than 2000 characters as JSON (STENO_MAX_METADATA_CHARS)',
  ],
] as const) {
  test(`${JSON.stringify(body).slice(0, 80)}: ${line}`, () => {
    assert.deepEqual(lines(body), [line])
  })
}

test('all errors are reported at once, in the order of the fields at every depth', () => {
  const body = {
    custom_metadata: { a: 'x'.repeat(2000) },
    callback: true,
    messages_config: { receive_errors: 'no' },
    realtime_processing: {
      sentiment_analysis: 1,
      translation: true,
      custom_spelling: true,
      custom_vocabulary: 'a',
    },
    endpointing: 0,
  }
  assert.deepEqual(
    lines(body).map((line) => line.split(' ', 1)[0]),
    [
      'endpointing',
      'realtime_processing.custom_vocabulary',
      'realtime_processing.custom_spelling_config',
      'realtime_processing.translation_config',
      'realtime_processing.sentiment_analysis',
      'messages_config.receive_errors',
      'callback_config.url',
      'custom_metadata',
    ],
  )
})

test('values at the limits are accepted', () => {
  for (const body of [
    { endpointing: 0.01, maximum_duration_without_endpointing: 5, channels: 1 },
    { endpointing: 10, maximum_duration_without_endpointing: 60, channels: 8 },
    { pre_processing: { speech_threshold: 1 }, bit_depth: 8, sample_rate: 8000 },
    { bit_depth: 32, sample_rate: 48000, channels: JSON.parse('2.0') },
    { custom_metadata: { a: 'x'.repeat(2000 - '{"a":""}'.length) } },
  ]) {
    assert.deepEqual(lines(body), [])
  }
})
