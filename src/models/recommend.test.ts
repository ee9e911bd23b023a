import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCatalog } from './catalog.ts'
import { type Machine, recommendModels, suggestModel } from './recommend.ts'

const big: Machine = { memoryBytes: 32e9, cores: 16, freeBytes: 500e9 }
const catalog = readCatalog()

function find(languages: string[], change: Partial<Machine> = {}) {
  return recommendModels(languages, { machine: { ...big, ...change }, catalog })
}

function recommend(languages: string[], change: Partial<Machine> = {}): string[] {
  return find(languages, change).recommended.map(({ model }) => model.id)
}

test('a large machine gets the most accurate measured model', () => {
  assert.deepEqual(recommend(['de']), ['whisper-large-v3-turbo'])
  assert.deepEqual(recommend(['en', 'ja']), ['whisper-large-v3-turbo'])
  assert.deepEqual(recommend([]), ['whisper-large-v3-turbo'])
  assert.deepEqual(recommend(['en']), [])
})

test('few cores, little memory or disk space get smaller models', () => {
  assert.deepEqual(recommend(['ja'], { cores: 4 }), ['whisper-small'])
  assert.deepEqual(recommend(['ja'], { cores: 2 }), ['whisper-base'])
  assert.deepEqual(recommend(['de'], { memoryBytes: 1.25e9 }), ['whisper-small'])
  assert.deepEqual(recommend(['de'], { memoryBytes: 5e8, cores: 2 }), ['whisper-tiny'])
  assert.deepEqual(recommend(['de'], { freeBytes: 1e9 }), ['whisper-base'])
  assert.deepEqual(recommend(['de'], { freeBytes: 1e7 }), [])
})

test('unmeasured models are only alternatives, marked as such', () => {
  const { alternatives } = find(['de', 'ja'])
  assert.deepEqual(
    alternatives.map(({ model, reason }) => [model.id, reason]),
    [
      [
        'parakeet-ultra',
        'for de, faster, more accurate by published figures, not measured in Steno',
      ],
    ],
  )
  assert.deepEqual(find(['ja']).alternatives, [])
  assert.deepEqual(find(['de'], { memoryBytes: 1e9 }).alternatives, [])
  for (const { recommended, alternatives } of [find([]), find(['de', 'fr']), find(['ja'])]) {
    assert.ok(recommended.every(({ model }) => model.measured !== undefined))
    assert.ok(alternatives.every(({ model }) => model.measured === undefined))
  }
})

test('each recommendation states its purpose', () => {
  const reasons = (languages: string[]) => find(languages).recommended.map(({ reason }) => reason)
  assert.deepEqual(reasons(['de']), ['for de'])
  assert.deepEqual(reasons(['de', 'fr']), ['for de, fr, and tells them apart'])
  assert.deepEqual(reasons([]), ['for all languages'])
})

test('one fitting measured model is suggested for missing languages', () => {
  const suggest = (languages: string[], machine: Partial<Machine> = { cores: 4 }) => {
    return suggestModel(languages, machine)?.id
  }
  assert.equal(suggest(['de', 'fr']), 'whisper-small')
  assert.equal(suggest(['ja'], { cores: 2 }), 'whisper-base')
  assert.equal(suggest(['ja', 'wo']), 'whisper-small')
  assert.equal(suggest(['ja'], { cores: 64, memoryBytes: 1e9 }), 'whisper-base')
  assert.equal(suggest(['ja'], { cores: 64, memoryBytes: 1e6 }), undefined)
  assert.equal(suggest(['wo']), undefined)
})
