import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCatalog } from '../../../models/catalog.ts'
import { languageCodeOf } from './language-names.ts'

const codes = readCatalog().find(({ id }) => id === 'whisper-large-v3')!.languages

test('languageCodeOf accepts language codes and English names', () => {
  const names = [
    'de',
    'german',
    'German',
    'pt-BR',
    'norwegian',
    'chinese',
    'mandarin',
    'haitian creole',
  ]
  const found = names.map((name) => languageCodeOf(name, codes))
  assert.deepEqual(found, ['de', 'de', 'de', 'pt', 'no', 'zh', 'zh', 'ht'])
  for (const name of ['javanese', 'tagalog', 'myanmar', 'hawaiian', 'nynorsk', 'castilian']) {
    assert.ok(languageCodeOf(name, codes), name)
  }
  assert.equal(languageCodeOf('klingon', codes), undefined)
  assert.equal(languageCodeOf('german', ['en', 'fr']), undefined)
})
