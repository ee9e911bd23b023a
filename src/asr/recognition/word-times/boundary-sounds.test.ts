import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundarySounds } from './boundary-sounds.ts'

const kinds = ['vowel', 'stop', 'fricative', 'sonorant']

function named(before: string | undefined, word: string): string[] {
  return boundarySounds(before, word).map((sound) => {
    return `${sound < 4 ? 'after' : 'before'} ${kinds[sound % 4]}`
  })
}

test('letters tell the kinds of the sounds around a boundary', () => {
  for (const [before, word, ...sounds] of [
    ['have', 'knives,', 'after fricative', 'before sonorant'],
    ['Made', '“Then”', 'after stop', 'before fricative'],
    ['time', 'city', 'after sonorant', 'before fricative'],
    ['the', 'cat', 'after vowel', 'before stop'],
    ['enough.', 'élan', 'after fricative', 'before vowel'],
    ['run', '800', 'after sonorant', 'before vowel'],
  ] as const) {
    assert.deepEqual(named(before, word), sounds)
  }
})

test('a sound that is not known is left out', () => {
  assert.deepEqual(named(undefined, 'ten'), ['before stop'])
  assert.deepEqual(named('…', '東京'), [])
})
