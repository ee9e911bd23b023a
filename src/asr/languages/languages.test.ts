import assert from 'node:assert/strict'
import test from 'node:test'
import { chooseRequestedLanguage, listedLanguages } from './languages.ts'

test('a single requested language is used when it is installed', () => {
  assert.equal(chooseRequestedLanguage(['fr'], ['en', 'fr']), 'fr')
})

test('a language that is not installed is rejected with the installed ones', () => {
  assert.throws(() => chooseRequestedLanguage(['de', 'fr'], ['en']), {
    code: 'language_not_installed',
    message:
      /no installed model supports de, fr; installed: en; 'steno models pull whisper-[\w-]+' installs/,
  })
})

test('where no model fits into memory, the error says how much the smallest one needs', () => {
  assert.throws(() => chooseRequestedLanguage(['de'], ['en'], () => undefined), {
    message: /whisper-tiny does, but needs 400000000 bytes of STENO_MODEL_MEMORY/,
  })
  assert.throws(() => chooseRequestedLanguage(['xx'], ['en']), {
    message: /no other model does either/,
  })
})

test('of several requested languages the installed ones are used', () => {
  assert.equal(chooseRequestedLanguage(['de', 'en'], ['en']), 'en')
  assert.equal(chooseRequestedLanguage(['de', 'en'], ['en', 'de']), undefined)
})

test('without a requested language the only installed one is used, or none is fixed', () => {
  assert.equal(chooseRequestedLanguage([], ['en']), 'en')
  assert.equal(chooseRequestedLanguage([], ['en', 'de']), undefined)
})

test('listedLanguages reads the languages from request parameters', () => {
  assert.deepEqual(listedLanguages({ language_config: { languages: ['en'] } }), ['en'])
  assert.deepEqual(listedLanguages({ language_config: {} }), [])
  assert.deepEqual(listedLanguages({}), [])
})
