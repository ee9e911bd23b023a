import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../config/config.ts'
import { preRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import { validateFields } from '../validation/validate-fields.ts'
import { toPreRecordedParams } from './to-pre-recorded-params.ts'

const config = readConfig({ STENO_MODEL_ALIASES: 'nova=stt-1', STENO_DEFAULT_LLM_MODEL: 'small' })
const schema = preRecordedRequest(config)
const audio_url = 'https://a.example/b.mp3'

function params(fields: Record<string, unknown>): Record<string, unknown> {
  const { value, errors } = validateFields(schema, { audio_url, ...fields }, config.requests)
  assert.deepEqual(errors, [])
  return toPreRecordedParams(value, config.models)
}

/** The parameters of a request with nothing but its audio. */
const defaults = {
  audio_url,
  model: 'stt-1',
  language_config: { languages: [], code_switching: false },
  custom_vocabulary: false,
  custom_spelling: false,
  punctuation_enhanced: false,
  diarization: false,
  translation: false,
  subtitles: false,
  sentences: false,
  summarization: false,
  named_entity_recognition: false,
  sentiment_analysis: false,
  audio_to_llm: false,
  pii_redaction: false,
  callback: false,
}

test('a request with only its audio shows all switches, the model and the languages', () => {
  assert.deepEqual(params({}), defaults)
})

test('a given configuration is shown with its defaults, even without its switch', () => {
  const given = {
    language_config: { languages: ['fr-CA', 'en', 'fr'], code_switching: true },
    custom_vocabulary_config: { vocabulary: ['a', { value: 'b', language: 'jp' }] },
    custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } },
    diarization_config: { min_speakers: 0, enhanced: true },
    translation_config: { target_languages: ['wo', 'pt-BR'] },
    subtitles_config: { maximum_duration: 5 },
    summarization_config: {},
    audio_to_llm_config: { prompts: ['one', ['two', 'three']] },
    pii_redaction_config: { entity_types: 'GDPR' },
    callback_config: { url: 'https://c.example' },
    structured_data_extraction_config: { classes: ['name'] },
    custom_metadata: { team: 'red' },
  }
  assert.deepEqual(params(given), {
    ...defaults,
    language_config: { languages: ['fr', 'en'], code_switching: true },
    custom_vocabulary_config: {
      vocabulary: ['a', { value: 'b', language: 'ja' }],
      default_intensity: 0.5,
    },
    custom_spelling_config: given.custom_spelling_config,
    diarization_config: { min_speakers: 0 },
    translation_config: {
      target_languages: ['wo', 'pt'],
      model: 'base',
      match_original_utterances: true,
      lipsync: true,
      context_adaptation: true,
      informal: false,
    },
    subtitles_config: { formats: ['srt'], maximum_duration: 5, style: 'default' },
    summarization_config: { type: 'general' },
    audio_to_llm_config: { prompts: ['one', ['two', 'three']], model: 'small' },
    pii_redaction_config: { entity_types: 'GDPR', processed_text_type: 'MARKER' },
    callback_config: { url: 'https://c.example', method: 'POST' },
    structured_data_extraction_config: { classes: ['name'] },
  })
})

test('the model is shown as the client named it, or under the configured label', () => {
  assert.equal(params({ model: 'nova' }).model, 'nova')
  assert.equal(params({ model: null }).model, 'stt-1')
  const { value } = validateFields(schema, { audio_url }, config.requests)
  assert.equal(toPreRecordedParams(value, { defaultLabel: 'nova-2' }).model, 'nova-2')
})

test('add-ons beyond the documented fields are shown when they are used', () => {
  const names = [
    ...['moderation', 'name_consistency', 'structured_data_extraction', 'display_mode'],
    'chapters',
  ]
  for (const name of names) assert.equal(params({ [name]: true })[name], true)
})

const legacy: [title: string, older: object, modern: object][] = [
  ['language', { language: 'en-US' }, { language_config: { languages: ['en'] } }],
  ['detect_language', { language: 'en', detect_language: true }, {}],
  [
    'detect_language: false',
    { language: 'en', detect_language: false },
    { language_config: { languages: ['en'] } },
  ],
  [
    'enable_code_switching',
    { enable_code_switching: true },
    { language_config: { code_switching: true } },
  ],
  [
    'code_switching_config',
    { enable_code_switching: true, code_switching_config: { languages: ['en', 'fr', 'en'] } },
    { language_config: { languages: ['en', 'fr'], code_switching: true } },
  ],
  ['code_switching_config without languages', { code_switching_config: { languages: null } }, {}],
  [
    'language beside language_config, which wins field by field',
    { language: 'fr', enable_code_switching: true, language_config: { code_switching: false } },
    { language_config: { languages: ['fr'], code_switching: false } },
  ],
  [
    'languages beside language_config.languages',
    { language: 'fr', language_config: { languages: [] } },
    { language_config: { languages: [] } },
  ],
  [
    'custom_vocabulary as a list',
    {
      custom_vocabulary: ['a', { value: 'b' }],
      custom_vocabulary_config: { default_intensity: 0.7 },
    },
    {
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['a', { value: 'b' }], default_intensity: 0.7 },
    },
  ],
  [
    'custom_vocabulary as a list alone',
    { custom_vocabulary: ['a'] },
    { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['a'] } },
  ],
  [
    'callback_url',
    { callback_url: 'https://c.example/x' },
    { callback: true, callback_config: { url: 'https://c.example/x', method: 'POST' } },
  ],
  [
    'callback_url beside callback_config, which wins',
    {
      callback_url: 'https://c.example/x',
      callback_config: { url: 'https://d.example', method: 'PUT' },
    },
    { callback: true, callback_config: { url: 'https://d.example', method: 'PUT' } },
  ],
  [
    'fields that are no longer read',
    {
      chapterization: 1,
      words_accurate_timestamps: true,
      accurate_words_timestamps: true,
      diarization_enhanced: 'yes',
      context_prompt: {},
      audio_enhancer: true,
    },
    {},
  ],
]

for (const [title, older, modern] of legacy) {
  test(`a legacy field maps to its current form: ${title}`, () => {
    assert.deepEqual(params({ ...older }), params({ ...modern }))
  })
}

test('legacy fields are accepted when unknown fields are refused', () => {
  for (const [title, older] of legacy) {
    const given = { audio_url, diarization_config: { enhanced: true }, ...older }
    const { errors } = validateFields(schema, given, { unknownFields: 'reject' })
    assert.deepEqual(errors, [], title)
  }
})

test('channel_mode is shown only when it was given', () => {
  assert.equal('channel_mode' in params({}), false)
  assert.equal(params({ channel_mode: 'mix' }).channel_mode, 'mix')
})
