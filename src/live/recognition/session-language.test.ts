import assert from 'node:assert/strict'
import test from 'node:test'
import { createSessionLanguage } from './session-language.ts'

const installed = ['en', 'fr', 'de']

test('a single configured language is used from the start', () => {
  const language = createSessionLanguage({ languages: ['fr'], code_switching: true }, { installed })
  language.recognized('en')
  assert.deepEqual([language.current, language.fallback], ['fr', 'fr'])
})

test('without code switching the first words decide the language', () => {
  const language = createSessionLanguage({ languages: [], code_switching: false }, { installed })
  assert.deepEqual([language.current, language.fallback], [undefined, 'en'])
  language.recognized('de')
  language.recognized('fr')
  assert.deepEqual([language.current, language.fallback, language.decided], ['de', 'de', 'de'])
})

test('with code switching no language is fixed', () => {
  const config = { languages: ['de', 'fr'], code_switching: true }
  const language = createSessionLanguage(config, { installed })
  language.recognized('fr')
  assert.deepEqual([language.current, language.fallback, language.decided], [undefined, 'de', null])
})

test('a resumed session keeps its language', () => {
  const config = { languages: [], code_switching: false }
  const language = createSessionLanguage(config, { installed, decided: 'fr' })
  language.recognized('en')
  assert.equal(language.current, 'fr')
})

test('a language that is no longer installed is decided again', () => {
  const config = { languages: [], code_switching: false }
  const language = createSessionLanguage(config, { installed, decided: 'it' })
  assert.deepEqual([language.current, language.decided], [undefined, null])
  language.recognized('de')
  assert.equal(language.current, 'de')
})

test('without words the language is an installed one', () => {
  const config = { languages: [], code_switching: true }
  const language = createSessionLanguage(config, { installed: ['fr', 'de'] })
  assert.equal(language.fallback, 'fr')
})
