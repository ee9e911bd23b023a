import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findClosestEntry } from './closest-entry.ts'
import { type CustomVocabularyConfig, indexVocabulary } from './entries.ts'
import { editDistance, phoneDistance } from './phone-distance.ts'
import { phonesOf } from './phones.ts'

type Vocabulary = CustomVocabularyConfig['vocabulary']

/**
 * Returns the value closest to a text, by default recognized as one word and with the full
 * threshold.
 */
function nearestTo(text: string, vocabulary: Vocabulary, { words = 1, factor = 1 } = {}) {
  const index = indexVocabulary({ vocabulary, default_intensity: 1 }, 'en')
  return findClosestEntry(index, { phones: phonesOf(text, 'en'), words, factor })?.pattern.value
}

test('the nearest of several entries is found in any order', () => {
  assert.equal(nearestTo('gravana', ['Gravata', 'Grafana']), 'Grafana')
  assert.equal(nearestTo('gravana', ['Grafana', 'Gravata']), 'Grafana')
})

test('of equally near entries the first is taken', () => {
  const entries = ['Alpha One', 'Beta Two'].map((value) => ({ value, pronunciations: ['gravity'] }))
  for (const vocabulary of [entries, entries.toReversed()]) {
    assert.equal(nearestTo('gravity', vocabulary), vocabulary[0]!.value)
  }
})

test('a stricter factor excludes an entry that matches otherwise', () => {
  assert.equal(nearestTo('gravana', ['Grafana']), 'Grafana')
  assert.equal(nearestTo('gravana', ['Grafana'], { factor: 0.05 }), undefined)
})

test('an entry does not match too many words', () => {
  assert.equal(nearestTo('grafana', ['Grafana'], { words: 3 }), 'Grafana')
  assert.equal(nearestTo('grafana', ['Grafana'], { words: 4 }), undefined)
})

test('pruned entries could not have been the nearest', () => {
  const vocabulary = ['Grafana', 'Gravity', 'Granada', 'Graphene', 'Gran', 'Krakow', 'Gregorian']
  const index = indexVocabulary({ vocabulary, default_intensity: 1 }, 'en')
  const patterns = [...index.byEnds.values()].flatMap((lists) =>
    lists.flatMap((list) => list ?? []),
  )
  const syllables = fc.array(fc.constantFrom('gra', 'fa', 'na', 'vi', 'ty', 'da', 'kow', 'n'), {
    minLength: 2,
    maxLength: 6,
  })
  fc.assert(
    fc.property(syllables, (syllables) => {
      const phones = phonesOf(syllables.join(''), 'en')
      const scores = patterns
        .filter((pattern) => phones[0] === pattern.phones[0])
        .filter((pattern) => phoneDistance(phones.at(-1)!, pattern.phones.at(-1)!) <= 0.6)
        .map((pattern) => {
          const longer = Math.max(phones.length, pattern.phones.length)
          const score = editDistance(pattern.phones, phones, pattern.threshold * longer) / longer
          return score <= pattern.threshold ? score : Number.POSITIVE_INFINITY
        })
      const found = findClosestEntry(index, { phones, words: 1, factor: 1 })
      assert.ok((found?.score ?? Number.POSITIVE_INFINITY) <= Math.min(...scores))
    }),
  )
})
