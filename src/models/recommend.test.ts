import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCatalog } from './catalog.ts'
import { type Machine, recommendModels, suggestModel } from './recommend.ts'

const big: Machine = { memoryBytes: 32e9, cores: 16, freeBytes: 500e9 }
const catalog = readCatalog()

function recommend(languages: string[], change: Partial<Machine> = {}): string[] {
  const found = recommendModels(languages, { machine: { ...big, ...change }, catalog })
  return found.map(({ model }) => model.id)
}

test('a big machine gets the accurate models, by its languages', () => {
  assert.deepEqual(recommend(['de']), ['parakeet-ultra'])
  assert.deepEqual(recommend(['en']), ['parakeet-ultra'])
  assert.deepEqual(recommend(['de', 'fr']), ['parakeet-ultra', 'whisper-base'])
  assert.deepEqual(recommend(['ja']), ['whisper-large-v3-turbo'])
  assert.deepEqual(recommend(['de', 'ja']), ['parakeet-ultra', 'whisper-large-v3-turbo'])
  assert.deepEqual(recommend([]), ['parakeet-ultra', 'whisper-large-v3-turbo'])
})

test('few cores, little memory and a full disk get smaller ones', () => {
  assert.deepEqual(recommend(['ja'], { cores: 4 }), ['whisper-small'])
  assert.deepEqual(recommend(['ja'], { cores: 2 }), ['whisper-base'])
  assert.deepEqual(recommend(['de', 'ja'], { memoryBytes: 2e9, cores: 4 }), [
    'parakeet-ultra',
    'whisper-base',
  ])
  assert.deepEqual(recommend(['de'], { memoryBytes: 1.25e9 }), ['whisper-small'])
  assert.deepEqual(recommend(['de'], { memoryBytes: 5e8, cores: 2 }), ['whisper-tiny'])
  assert.deepEqual(recommend(['de'], { freeBytes: 1e9 }), ['whisper-base'])
  assert.deepEqual(recommend(['de'], { freeBytes: 1e7 }), [])
  assert.deepEqual(recommend(['en'], { memoryBytes: 1e9 }), [])
})

test('each model says what it is for', () => {
  const reasons = (languages: string[]) => {
    return recommendModels(languages, { machine: big, catalog }).map(({ reason }) => reason)
  }
  assert.deepEqual(reasons(['de', 'ja', 'fr']), ['the most accurate for de, fr', 'for ja'])
  assert.deepEqual(reasons(['de', 'fr'])[1], 'tells the languages apart')
  assert.deepEqual(reasons([]), ['the most accurate for 25 languages', 'for all other languages'])
})

test('one model is suggested for languages that are missing', () => {
  assert.equal(suggestModel(['de', 'fr']), 'parakeet-ultra')
  assert.equal(suggestModel(['ja']), 'whisper-small')
  assert.equal(suggestModel(['de', 'ja']), 'whisper-small')
  assert.equal(suggestModel(['wo']), undefined)
})
