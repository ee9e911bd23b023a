import assert from 'node:assert/strict'
import test from 'node:test'
import { listSpelling } from './accents.ts'

const cases = { Kraków: 'krakow', Łukasz: 'lukasz', Søren: 'soren', Weiß: 'weiss', Smith: 'smith' }

for (const [word, bare] of Object.entries(cases)) {
  test(`withoutAccents(${word}) is ${bare}`, () => assert.equal(listSpelling(word), bare))
}
