import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  editDistance,
  isVowel,
  minCosts,
  PHONE_COUNT,
  phoneDistance,
  readPhones,
} from './phone-distance.ts'

function distance(a: string, b: string, limit = 99): number {
  return editDistance(readPhones(a), readPhones(b), limit)
}

test('equal sounds have distance zero', () => {
  assert.equal(distance('K AE1 T', 'K AE T'), 0)
})

test('sounds that differ only in voicing are near, other manners far', () => {
  assert.equal(distance('P', 'B'), 0.25)
  assert.ok(distance('P', 'S') > 2 * distance('P', 'B'))
})

test('vowels of adjacent places are nearer than distant ones', () => {
  assert.ok(distance('IH', 'IY') < distance('IY', 'AA'))
})

test('the distance is symmetric', () => {
  assert.equal(distance('K AE T S', 'AE D'), distance('AE D', 'K AE T S'))
})

test('omitting a schwa costs less than omitting a consonant', () => {
  assert.equal(distance('K AH L', 'K L'), 0.5)
  assert.equal(distance('K S L', 'K L'), 0.9)
})

test('a distance above the limit is infinite', () => {
  assert.equal(distance('K AE T', 'M UW N', 1), Number.POSITIVE_INFINITY)
  assert.equal(distance('K S', 'K', 0.9), 0.9)
  assert.equal(distance('K S', 'K', 0.8), Number.POSITIVE_INFINITY)
})

test('isVowel separates vowels from consonants', () => {
  const [vowel, consonant] = readPhones('AH K')
  assert.deepEqual([isVowel(vowel!), isVowel(consonant!)], [true, false])
  assert.equal(phoneDistance(vowel!, consonant!), 1)
})

test('a limit never changes a distance below it', () => {
  const phones = fc.array(fc.nat({ max: PHONE_COUNT - 1 }), { maxLength: 80 })
  const limit = fc.double({ min: 0, max: 12, noNaN: true })
  fc.assert(
    fc.property(phones, phones, limit, (a, b, limit) => {
      const full = editDistance(a, b, 1_000)
      const expected = full <= limit ? full : Number.POSITIVE_INFINITY
      assert.equal(editDistance(a, b, limit), expected)
    }),
  )
})

test('a distance within the limit is found at any position', () => {
  const phones = fc.array(fc.nat({ max: PHONE_COUNT - 1 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(phones, fc.nat(), (a, at) => {
      const b = a.toSpliced(at % a.length, 1)
      assert.ok(editDistance(a, b, 0.9) <= 0.9)
      assert.ok(editDistance(b, a, 0.9) <= 0.9)
    }),
  )
})

test('a lower bound never changes a distance within the limit', () => {
  const phones = fc.array(fc.nat({ max: PHONE_COUNT - 1 }), { maxLength: 20 })
  const limit = fc.double({ min: 0, max: 12, noNaN: true })
  fc.assert(
    fc.property(phones, phones, limit, (a, b, limit) => {
      assert.equal(editDistance(a, b, limit, minCosts(b)), editDistance(a, b, limit))
    }),
  )
})

test('the minimum cost of a phone is that of the nearest, or of omission', () => {
  const [k, g, s] = readPhones('K G S')
  const least = minCosts(readPhones('K'))
  assert.deepEqual([least[k!], least[g!], least[s!]], [0, phoneDistance(k!, g!), 0.9])
})
