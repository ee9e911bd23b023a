import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const LINE = /^[A-Za-z0-9_.]+ (must |is required$)/

let server: TestServer
let audioUrl: string

before(async () => {
  const env = { STENO_MODEL_ALIASES: 'fast=stt-1,best=stt-3', STENO_MAX_VOCABULARY: '3' }
  server = await startServer({ env })
  audioUrl = await upload(server, createToneWav(1))
})
after(() => server.close())

function create<T>(fields: Record<string, unknown>) {
  return call<T>(server, '/v2/pre-recorded', { json: { audio_url: audioUrl, ...fields } })
}

/** Requests with exactly one thing wrong, and the line that says so. */
const invalid: [fields: Record<string, unknown>, line: string | RegExp][] = [
  [{ audio_url: undefined }, 'audio_url is required'],
  [{ audio_url: null }, 'audio_url is required'],
  [{ audio_url: 5 }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: '' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: '/file/1' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'file:///etc/passwd' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'https://' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: ' https://a.example' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'https://a.example/\u0000' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'https://a.example/a b' }, 'audio_url must be an absolute http or https URL'],
  [{ model: 'stt-2' }, 'model must be one of: stt-1, stt-3, stt-fusion, fast, best'],
  [{ model: 1 }, /^model must be one of: /],
  [{ language_config: [] }, 'language_config must be an object'],
  [{ language_config: { languages: 'en' } }, 'language_config.languages must be an array'],
  [
    { language_config: { languages: ['en', 'xx'] } },
    /^language_config\.languages\.1 must be one of: af, am, ar, /,
  ],
  [{ language_config: { languages: ['wo'] } }, /^language_config\.languages\.0 must be one of: /],
  [{ language_config: { languages: [null] } }, /^language_config\.languages\.0 must be one of: /],
  [
    { language_config: { code_switching: 'true' } },
    'language_config.code_switching must be a boolean',
  ],
  [{ language: 'xx' }, /^language must be one of: /],
  [{ detect_language: 'yes' }, 'detect_language must be a boolean'],
  [
    { code_switching_config: { languages: ['xx'] } },
    /^code_switching_config\.languages\.0 must be one of: /,
  ],
  [{ diarization: 'true' }, 'diarization must be a boolean'],
  [{ sentences: 1 }, 'sentences must be a boolean'],
  [
    { diarization_config: { number_of_speakers: 0 } },
    'diarization_config.number_of_speakers must not be less than 1',
  ],
  [
    { diarization_config: { number_of_speakers: 1.5 } },
    'diarization_config.number_of_speakers must be an integer',
  ],
  [
    { diarization_config: { min_speakers: -1 } },
    'diarization_config.min_speakers must not be less than 0',
  ],
  [
    { diarization_config: { max_speakers: '2' } },
    'diarization_config.max_speakers must be an integer',
  ],
  [{ custom_vocabulary: 'words' }, 'custom_vocabulary must be a boolean or an array'],
  [{ custom_vocabulary: true }, 'custom_vocabulary_config is required'],
  [{ custom_vocabulary: [''] }, 'custom_vocabulary.0 must not be empty'],
  [{ custom_vocabulary: [5] }, 'custom_vocabulary.0 must be a string or an object'],
  [
    { custom_vocabulary: ['a', 'b', 'c', 'd'] },
    'custom_vocabulary must not hold more than 3 items (STENO_MAX_VOCABULARY)',
  ],
  [{ custom_vocabulary_config: {} }, 'custom_vocabulary_config.vocabulary is required'],
  [
    { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: 'a' } },
    'custom_vocabulary_config.vocabulary must be an array',
  ],
  [
    { custom_vocabulary_config: { vocabulary: [{ value: '' }] } },
    'custom_vocabulary_config.vocabulary.0.value must not be empty',
  ],
  [
    { custom_vocabulary_config: { vocabulary: [{}] } },
    'custom_vocabulary_config.vocabulary.0.value is required',
  ],
  [
    { custom_vocabulary_config: { vocabulary: [{ value: 'a', intensity: 1.1 }] } },
    'custom_vocabulary_config.vocabulary.0.intensity must not be greater than 1',
  ],
  [
    { custom_vocabulary_config: { vocabulary: [{ value: 'a', pronunciations: ['b', 5] }] } },
    'custom_vocabulary_config.vocabulary.0.pronunciations.1 must be a string',
  ],
  [
    { custom_vocabulary_config: { vocabulary: [{ value: 'a', language: 'xx' }] } },
    /^custom_vocabulary_config\.vocabulary\.0\.language must be one of: /,
  ],
  [
    { custom_vocabulary_config: { vocabulary: [], default_intensity: -0.1 } },
    'custom_vocabulary_config.default_intensity must not be less than 0',
  ],
  [{ custom_spelling: true }, 'custom_spelling_config is required'],
  [{ custom_spelling_config: {} }, 'custom_spelling_config.spelling_dictionary is required'],
  [
    { custom_spelling_config: { spelling_dictionary: { SQL: 'sequel' } } },
    'custom_spelling_config.spelling_dictionary.SQL must be an array',
  ],
  [
    { custom_spelling_config: { spelling_dictionary: { SQL: [1] } } },
    'custom_spelling_config.spelling_dictionary.SQL.0 must be a string',
  ],
  [{ translation: true }, 'translation_config is required'],
  [{ translation: true, translation_config: 'fr' }, 'translation_config must be an object'],
  [{ translation_config: {} }, 'translation_config.target_languages is required'],
  [
    { translation_config: { target_languages: [] } },
    'translation_config.target_languages must hold at least 1 item',
  ],
  [
    { translation_config: { target_languages: ['xx'] } },
    /^translation_config\.target_languages\.0 must be one of: .*, wo$/,
  ],
  [
    { translation_config: { target_languages: ['fr'], model: 'best' } },
    'translation_config.model must be one of: base, batch, enhanced',
  ],
  [
    { translation_config: { target_languages: ['fr'], lipsync: 'no' } },
    'translation_config.lipsync must be a boolean',
  ],
  [{ subtitles_config: { formats: [] } }, 'subtitles_config.formats must hold at least 1 item'],
  [
    { subtitles_config: { formats: ['ass'] } },
    'subtitles_config.formats.0 must be one of: srt, vtt',
  ],
  [
    { subtitles_config: { minimum_duration: -1 } },
    'subtitles_config.minimum_duration must not be less than 0',
  ],
  [
    { subtitles_config: { maximum_duration: 0.5 } },
    'subtitles_config.maximum_duration must not be less than 1',
  ],
  [
    { subtitles_config: { maximum_duration: 30.1 } },
    'subtitles_config.maximum_duration must not be greater than 30',
  ],
  [
    { subtitles_config: { maximum_characters_per_row: 0 } },
    'subtitles_config.maximum_characters_per_row must not be less than 1',
  ],
  [
    { subtitles_config: { maximum_rows_per_caption: 6 } },
    'subtitles_config.maximum_rows_per_caption must not be greater than 5',
  ],
  [
    { subtitles_config: { style: 'fancy' } },
    'subtitles_config.style must be one of: default, compliance',
  ],
  [
    { summarization_config: { type: 'long' } },
    'summarization_config.type must be one of: general, bullet_points, concise',
  ],
  [{ audio_to_llm: true }, 'audio_to_llm_config is required'],
  [
    { audio_to_llm_config: { prompts: [] } },
    'audio_to_llm_config.prompts must hold at least 1 item',
  ],
  [
    { audio_to_llm_config: { prompts: [1] } },
    'audio_to_llm_config.prompts.0 must be a string or an array',
  ],
  [
    { audio_to_llm_config: { prompts: [['a', 1]] } },
    'audio_to_llm_config.prompts.0.1 must be a string',
  ],
  [
    { audio_to_llm_config: { prompts: Array(51).fill('a') } },
    'audio_to_llm_config.prompts must not hold more than 50 items (STENO_MAX_PROMPTS)',
  ],
  [
    { pii_redaction_config: { entity_types: 'SECRET' } },
    /^pii_redaction_config\.entity_types must be one of: APPI, /,
  ],
  [
    { pii_redaction_config: { entity_types: ['NAME', 'x'] } },
    /^pii_redaction_config\.entity_types\.1 must be one of: /,
  ],
  [
    { pii_redaction_config: { processed_text_type: 'HIDE' } },
    'pii_redaction_config.processed_text_type must be one of: MARKER, MASK',
  ],
  [{ callback: true }, 'callback_config is required'],
  [{ callback_config: {} }, 'callback_config.url is required'],
  [
    { callback_config: { url: 'ftp://a' } },
    'callback_config.url must be an absolute http or https URL',
  ],
  [
    { callback_config: { url: 'https://a.example', method: 'GET' } },
    'callback_config.method must be one of: POST, PUT',
  ],
  [
    { callback_config: { url: `https://a.example/${'x'.repeat(8175)}` } },
    'callback_config.url must not be longer than 8192 characters',
  ],
  [{ callback_url: 'nowhere' }, 'callback_url must be an absolute http or https URL'],
  [{ custom_metadata: [] }, 'custom_metadata must be an object'],
  [{ custom_metadata: 'red' }, 'custom_metadata must be an object'],
  [
    { custom_metadata: { a: 'x'.repeat(1993) } },
    'custom_metadata must not be longer than 2000 characters as JSON (STENO_MAX_METADATA_CHARS)',
  ],
]

for (const [fields, line] of invalid) {
  test(`400 for ${JSON.stringify(fields).slice(0, 90)}`, async () => {
    const { status, body } = await create<ErrorBody>(fields)
    assert.equal(status, 400)
    assert.equal(body.message, 'Invalid request parameters, see validation_errors')
    assert.equal(body.validation_errors?.length, 1, body.validation_errors?.join('\n'))
    const [found = ''] = body.validation_errors
    assert.match(found, LINE)
    if (typeof line === 'string') assert.equal(found, line)
    else assert.match(found, line)
  })
}

test('an unknown upload URL of this server gets 400', async () => {
  for (const id of ['00000000-0000-0000-0000-000000000000', 'abc', '', '..%2f..%2fetc', '%00']) {
    const { status, body } = await create<ErrorBody>({ audio_url: `${server.url}/file/${id}` })
    assert.equal(status, 400, id)
    assert.deepEqual(body.validation_errors, ['audio_url must name an uploaded file that exists'])
  }
})

test('all errors of a request are reported at once, in field order', async () => {
  const { body } = await create<ErrorBody>({
    custom_metadata: 1,
    callback: true,
    subtitles_config: { maximum_duration: 31, formats: ['txt'] },
    translation: true,
    custom_vocabulary: true,
    custom_vocabulary_config: { default_intensity: 2 },
    language_config: { languages: ['xx'], code_switching: 0 },
    audio_url: `${server.url}/file/unknown`,
  })
  assert.deepEqual(
    body.validation_errors?.map((line) => line.split(' ', 1)[0]),
    [
      'audio_url',
      'language_config.languages.0',
      'language_config.code_switching',
      'custom_vocabulary_config.vocabulary',
      'custom_vocabulary_config.default_intensity',
      'translation_config',
      'subtitles_config.formats.0',
      'subtitles_config.maximum_duration',
      'callback_config',
      'custom_metadata',
    ],
  )
})

/** Requests that are well formed and yet cannot be meant or served. */
const contradictory: [fields: Record<string, unknown>, path: string | undefined][] = [
  [{ model: 'stt-3' }, 'language_config.languages'],
  [{ model: 'best', language_config: { languages: ['en', 'fr'] } }, 'language_config.languages'],
  [{ diarization_config: { min_speakers: 3, max_speakers: 2 } }, 'diarization_config.min_speakers'],
  [
    { diarization_config: { number_of_speakers: 5, max_speakers: 4 } },
    'diarization_config.number_of_speakers',
  ],
  [
    { diarization_config: { number_of_speakers: 1, min_speakers: 2 } },
    'diarization_config.number_of_speakers',
  ],
  [
    { subtitles_config: { minimum_duration: 6, maximum_duration: 5 } },
    'subtitles_config.minimum_duration',
  ],
  [
    // Without another maximum it is 7.
    { subtitles_config: { minimum_duration: 7.5 } },
    'subtitles_config.minimum_duration',
  ],
  [{ language_config: { languages: ['fr', 'de'] } }, 'language_config.languages'],
]

for (const [fields, path] of contradictory) {
  test(`422 for ${JSON.stringify(fields)}`, async () => {
    const { status, body } = await create<ErrorBody>(fields)
    assert.equal(status, 422)
    assert.deepEqual(
      body.validation_errors?.map((line) => line.split(' ', 1)[0]),
      path && [path],
    )
    for (const line of body.validation_errors ?? []) assert.match(line, LINE)
  })
}

test('a language that is not installed is reported with the installed ones', async () => {
  const { body } = await create<ErrorBody>({ language: 'fr' })
  assert.match(body.message, /\bfr\b.*\ben\b/)
})

/** Requests at the edge of what is allowed. */
const valid: Record<string, unknown>[] = [
  { model: 'stt-3', language_config: { languages: ['en', 'en-US'] } },
  { model: 'stt-fusion' },
  { model: 'best', language: 'en' },
  { language_config: { languages: ['fr', 'en'], code_switching: null } },
  { diarization_config: { number_of_speakers: 2.0, min_speakers: 0, max_speakers: 0 } },
  { subtitles_config: { minimum_duration: 5, maximum_duration: 5, maximum_rows_per_caption: 5 } },
  { subtitles_config: { minimum_duration: 0, maximum_duration: 1, formats: ['vtt', 'srt'] } },
  { custom_vocabulary_config: { vocabulary: ['a', 'b', 'c'], default_intensity: 1 } },
  { custom_metadata: { a: 'x'.repeat(1992) } },
  { custom_metadata: { constructor: 1, toString: null, 'a.b': [null, { c: null }] } },
  { realtime_processing: { words_accurate_timestamps: true }, unknown: null, 5: 5 },
  { audio_to_llm_config: { prompts: [['a', 'b'], 'c'] } },
  { callback_config: { url: `HTTPS://me:pw@a.example:1/?${'x'.repeat(8163)}#b` } },
  { pii_redaction_config: { entity_types: ['GDPR', 'NAME'] }, pii_redaction: null },
]

for (const fields of valid) {
  test(`201 for ${JSON.stringify(fields).slice(0, 90)}`, async () => {
    const { status, body } = await create<ErrorBody>(fields)
    assert.equal(status, 201, body.validation_errors?.join('\n'))
  })
}

test('metadata is returned as it was sent, with any keys', async () => {
  const custom_metadata = {
    constructor: 1,
    toString: null,
    'a.b': [null, { c: null }],
    é: '\ud800',
  }
  const { body } = await create<{ result_url: string }>({ custom_metadata })
  const job = await call<JobView>(server, body.result_url)
  assert.deepEqual(job.body.custom_metadata, custom_metadata)
})

test('an add-on without its engine is accepted and reports the error in the result', async () => {
  const fields = { structured_data_extraction: true }
  const { body } = await create<{ result_url: string }>(fields)
  await server.app.jobs.idle()
  const job = await call<JobView>(server, body.result_url)
  assert.equal(job.body.status, 'done')
  const { structured_data_extraction: response } = job.body.result as {
    structured_data_extraction: { success: boolean; error: { status_code: number } }
  }
  assert.deepEqual([response.success, response.error.status_code], [false, 501])
})

test('a legacy request is transcribed like its current form', async () => {
  const jobs: JobView[] = []
  for (const fields of [
    { language: 'en', chapterization: true },
    { language_config: { languages: ['en'] } },
  ]) {
    const { body } = await create<{ result_url: string }>(fields)
    await server.app.jobs.idle()
    jobs.push((await call<JobView>(server, body.result_url)).body)
  }
  const [older, modern] = jobs as [JobView, JobView]
  assert.deepEqual(older.request_params, modern.request_params)
  assert.deepEqual(older.result?.transcription, modern.result?.transcription)
  assert.ok(modern.result?.transcription)
})

test('STENO_UNKNOWN_FIELDS=reject rejects unknown fields', async (t) => {
  const strict = await startServer({ env: { STENO_UNKNOWN_FIELDS: 'reject' } })
  t.after(() => strict.close())
  const json = { audio_url: 'https://a.example', color: 'red', language_config: { region: 'eu' } }
  const { status, body } = await call<ErrorBody>(strict, '/v2/pre-recorded', { json })
  assert.equal(status, 400)
  assert.deepEqual(body.validation_errors, [
    'language_config.region must not be given: unknown field',
    'color must not be given: unknown field',
  ])
})
