import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { renewTranslationWarnings } from './translation-warnings.ts'

const say = (text: string, language: string) => ({ text, language }) as UtteranceView
const spoken = [
  say(' We sent the lamp today.', 'en'),
  say('Anna Berg', 'en'),
  say('Wir danken Ihnen sehr.', 'de'),
]
const envelope = (utterances: UtteranceView[]) => ({
  success: true,
  is_empty: false,
  exec_time: 0,
  error: null,
  results: [{ languages: ['de'], utterances }],
})
const warning = 'translation into de: 1 of 3 utterances came back as they were'

test('untranslated utterances are counted in a warning, except short ones', () => {
  assert.deepEqual(renewTranslationWarnings(['other'], envelope(spoken), spoken), [
    'other',
    warning,
  ])
})

test('a retry replaces the translation warning', () => {
  const translated = envelope([
    say('Wir haben die Lampe heute geschickt.', 'de'),
    ...spoken.slice(1),
  ])
  assert.deepEqual(renewTranslationWarnings(['other', warning], translated, spoken), ['other'])
})

test('a failed translation has no warning', () => {
  const failed = { ...envelope([]), success: false, results: null }
  assert.deepEqual(renewTranslationWarnings([], failed, spoken), [])
})
