import assert from 'node:assert/strict'
import test from 'node:test'
import { chooseLanguage, listedLanguages } from './languages.ts'

test('a single listed language is used when it is installed', () => {
  assert.equal(chooseLanguage(['fr'], ['en', 'fr']), 'fr')
})

test('a language that is not installed is refused with what there is instead', () => {
  assert.throws(() => chooseLanguage(['de', 'fr'], ['en']), {
    code: 'language_not_installed',
    message:
      /no installed model knows de, fr; installed: en; 'steno models pull whisper-[\w-]+' installs/,
  })
})

test('where no model fits the memory, the answer says how much the smallest one needs', () => {
  assert.throws(() => chooseLanguage(['de'], ['en'], () => undefined), {
    message: /whisper-tiny does, but needs 400000000 bytes of STENO_MODEL_MEMORY/,
  })
  assert.throws(() => chooseLanguage(['xx'], ['en']), { message: /nor does any other/ })
})

test('of several listed languages the installed ones are used', () => {
  assert.equal(chooseLanguage(['de', 'en'], ['en']), 'en')
  assert.equal(chooseLanguage(['de', 'en'], ['en', 'de']), undefined)
})

test('with no language listed it is the installed one, or the engine decides', () => {
  assert.equal(chooseLanguage([], ['en']), 'en')
  assert.equal(chooseLanguage([], ['en', 'de']), undefined)
})

test('listedLanguages reads the parameters of a request', () => {
  assert.deepEqual(listedLanguages({ language_config: { languages: ['en'] } }), ['en'])
  assert.deepEqual(listedLanguages({ language_config: {} }), [])
  assert.deepEqual(listedLanguages({}), [])
})
