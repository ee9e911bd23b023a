import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from '../../../config/config.ts'
import { createBodyParser } from './parse-body.ts'

const config = readConfig({})
const parseBody = createBodyParser(config)
const audio_url = 'https://a.example/b.mp3'

function read(body: unknown, wantsFingerprint = false) {
  const bytes = Buffer.from(JSON.stringify(body))
  return parseBody({ kind: 'pre-recorded', bytes, wantsFingerprint })
}

/** Returns the errors of a body. */
function lines(fields: Record<string, unknown>): string[] {
  return read({ audio_url, ...fields }).errors.lines
}

const term = 'x'.repeat(300)
const vocabulary = (pronunciations: string[]) =>
  Array.from({ length: 10_000 }, (_, i) => ({ value: `word ${i}`, pronunciations }))
const spelling = (variants: string[], count = 10_000) => ({
  spelling_dictionary: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`word ${i}`, variants]),
  ),
})

test('a vocabulary and a spelling dictionary of the maximum size are stored in full', () => {
  const fields = {
    custom_vocabulary: vocabulary(['a', 'b']),
    custom_spelling: true,
    custom_spelling_config: spelling(['a', 'b']),
  }
  const { errors, params, paramsText } = read({ audio_url, ...fields })
  assert.deepEqual(errors, { lines: [], isTruncated: false })
  const all = JSON.parse(paramsText)
  assert.deepEqual(all.custom_vocabulary_config.vocabulary, fields.custom_vocabulary)
  assert.deepEqual(all.custom_spelling_config, fields.custom_spelling_config)
  const { custom_vocabulary_config: shown } = params as typeof all
  assert.deepEqual(shown.vocabulary, fields.custom_vocabulary.slice(0, 1000))
})

const tooMuch: [title: string, fields: Record<string, unknown>, line: string][] = [
  [
    'a word of the vocabulary',
    { custom_vocabulary: [`${term}x`] },
    'custom_vocabulary.0 must not be longer than 300 characters',
  ],
  [
    'a pronunciation',
    { custom_vocabulary: [{ value: term, pronunciations: [term, `${term}x`] }] },
    'custom_vocabulary.0.pronunciations.1 must not be longer than 300 characters',
  ],
  [
    'a key of the spelling dictionary',
    { custom_spelling_config: { spelling_dictionary: { [`${term}x`]: [] } } },
    `custom_spelling_config.spelling_dictionary.${'x'.repeat(100)} must not be a key of more than 300 characters`,
  ],
  [
    'a variant',
    { custom_spelling_config: { spelling_dictionary: { [term]: [`${term}x`] } } },
    `custom_spelling_config.spelling_dictionary.${'x'.repeat(100)}.0 must not be longer than 300 characters`,
  ],
  [
    'a spelling dictionary',
    { custom_spelling_config: spelling([], 10_001) },
    'custom_spelling_config.spelling_dictionary must not hold more than 10000 keys',
  ],
  [
    'the pronunciations of all words',
    { custom_vocabulary: vocabulary(['a', 'b', 'c']) },
    'custom_vocabulary must not hold more than 20000 pronunciations in all',
  ],
  [
    'the variants of all words',
    { custom_spelling_config: spelling(['a', 'b', 'c']) },
    'custom_spelling_config.spelling_dictionary must not hold more than 20000 variants in all',
  ],
  [
    'a list of languages',
    { language_config: { languages: Array(190_000).fill('x') } },
    'language_config.languages must not hold more than 200 items',
  ],
  [
    'an older list of languages',
    { code_switching_config: { languages: Array(190_000).fill('x') } },
    'code_switching_config.languages must not hold more than 200 items',
  ],
  [
    'a part of a prompt',
    { audio_to_llm_config: { prompts: [['x'.repeat(20_001)]] } },
    'audio_to_llm_config.prompts.0.0 must not be longer than 20000 characters',
  ],
]
for (const [title, fields, line] of tooMuch) {
  test(`${title} beyond its limit is reported as one error`, () =>
    assert.deepEqual(lines(fields), [line]))
}

test('the number of metadata keys is checked before their values', () => {
  const custom_metadata = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [i, 1]))
  assert.deepEqual(lines({ custom_metadata }), ['custom_metadata must not hold more than 400 keys'])
})

test('equal requests have equal fingerprints, computed only when requested', () => {
  const { fingerprint } = read({ audio_url, sentences: true }, true)
  assert.match(fingerprint!, /^[0-9a-f]{64}$/)
  assert.equal(read({ sentences: true, audio_url }, true).fingerprint, fingerprint)
  assert.notEqual(read({ sentences: false, audio_url }, true).fingerprint, fingerprint)
  assert.equal(read({ audio_url }).fingerprint, undefined)
})

test('the number of keys in the metadata of a session is limited', () => {
  const metadata = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [i, 1]))
  const bytes = Buffer.from(JSON.stringify(metadata))
  const task = { kind: 'post-session-metadata', bytes, wantsFingerprint: false } as const
  assert.throws(() => parseBody(task), {
    validationErrors: ['post_session_metadata must not hold more than 10000 keys'],
  })
})

test('a body is read after one that is not UTF-8', () => {
  const text = (end: number) => Buffer.concat([Buffer.from('{"a":"'), Buffer.from([end])])
  const parse = (bytes: Buffer) =>
    parseBody({ kind: 'pre-recorded', bytes, wantsFingerprint: false })
  assert.throws(() => parse(text(0xc3)), { code: 'body_unreadable' })
  assert.throws(() => parse(text(0xff)), { code: 'body_unreadable' })
  assert.deepEqual(read({ audio_url }).errors.lines, [])
})

test('a language model that prompts cannot use is named as without effect', () => {
  const settings = readConfig({
    STENO_LLM_URL: 'https://llm.example/v1',
    STENO_LLM_MODEL: 'small',
    STENO_LLM_ALLOWED_MODELS: 'large',
  })
  const parse = createBodyParser(settings)
  const withoutEffect = (kind: 'pre-recorded' | 'live', body: object) => {
    const bytes = Buffer.from(JSON.stringify(body))
    return parse({ kind, bytes, wantsFingerprint: false }).withoutEffect
  }
  const ask = (model?: string) => ({
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who called?'], model },
  })
  const model = 'audio_to_llm_config.model'
  assert.deepEqual(withoutEffect('pre-recorded', { audio_url, ...ask('other') }), [model])
  for (const known of ['small', 'large', 'default', undefined]) {
    assert.deepEqual(withoutEffect('pre-recorded', { audio_url, ...ask(known) }), [])
  }
  const unasked = { ...ask('other'), audio_to_llm: false }
  assert.deepEqual(withoutEffect('pre-recorded', { audio_url, ...unasked }), [])
  const session = { post_processing: ask('other') }
  assert.deepEqual(withoutEffect('live', session), [`post_processing.${model}`])
  assert.deepEqual(read({ audio_url, ...ask('other') }).withoutEffect, [])
})
