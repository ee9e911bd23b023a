import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  editDistance,
  isVowel,
  minCosts,
  PHONES,
  phoneDistance,
  readPhones,
} from './phone-distance.ts'

function distance(a: string, b: string, limit = 99): number {
  return editDistance(readPhones(a), readPhones(b), limit)
}

test('the same sounds are no distance apart', () => {
  assert.equal(distance('K AE1 T', 'K AE T'), 0)
})

test('sounds that differ in voice alone are near, those of another manner far', () => {
  assert.equal(distance('P', 'B'), 0.25)
  assert.ok(distance('P', 'S') > 2 * distance('P', 'B'))
})

test('vowels of neighboring places are nearer than those across the mouth', () => {
  assert.ok(distance('IH', 'IY') < distance('IY', 'AA'))
})

test('a distance is the same both ways', () => {
  assert.equal(distance('K AE T S', 'AE D'), distance('AE D', 'K AE T S'))
})

test('a schwa is left out more easily than a consonant', () => {
  assert.equal(distance('K AH L', 'K L'), 0.5)
  assert.equal(distance('K S L', 'K L'), 0.9)
})

test('a distance above the limit is infinite', () => {
  assert.equal(distance('K AE T', 'M UW N', 1), Number.POSITIVE_INFINITY)
  assert.equal(distance('K S', 'K', 0.9), 0.9)
  assert.equal(distance('K S', 'K', 0.8), Number.POSITIVE_INFINITY)
})

test('vowels are distinguished from consonants', () => {
  const [vowel, consonant] = readPhones('AH K')
  assert.deepEqual([isVowel(vowel!), isVowel(consonant!)], [true, false])
  assert.equal(phoneDistance(vowel!, consonant!), 1)
})

test('a limit never changes a distance within it', () => {
  const phones = fc.array(fc.nat({ max: PHONES - 1 }), { maxLength: 80 })
  const limit = fc.double({ min: 0, max: 12, noNaN: true })
  fc.assert(
    fc.property(phones, phones, limit, (a, b, limit) => {
      const full = editDistance(a, b, 1_000)
      const expected = full <= limit ? full : Number.POSITIVE_INFINITY
      assert.equal(editDistance(a, b, limit), expected)
    }),
  )
})

test('a distance within a limit is found wherever the sounds differ', () => {
  const phones = fc.array(fc.nat({ max: PHONES - 1 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(phones, fc.nat(), (a, at) => {
      const b = a.toSpliced(at % a.length, 1)
      assert.ok(editDistance(a, b, 0.9) <= 0.9)
      assert.ok(editDistance(b, a, 0.9) <= 0.9)
    }),
  )
})

test('the floor of a distance never changes it within a limit', () => {
  const phones = fc.array(fc.nat({ max: PHONES - 1 }), { maxLength: 20 })
  const limit = fc.double({ min: 0, max: 12, noNaN: true })
  fc.assert(
    fc.property(phones, phones, limit, (a, b, limit) => {
      assert.equal(editDistance(a, b, limit, minCosts(b)), editDistance(a, b, limit))
    }),
  )
})

test('a phone costs at least what the nearest costs, or what none does', () => {
  const [k, g, s] = readPhones('K G S')
  const least = minCosts(readPhones('K'))
  assert.deepEqual([least[k!], least[g!], least[s!]], [0, phoneDistance(k!, g!), 0.9])
})
