import assert from 'node:assert/strict'
import test from 'node:test'
import { createRandom } from '../../../../test/support/random/random.ts'
import { isCopy } from './compare-loudness.ts'

const HALF_HOUR = 28_125

test('a later copy is recognized by its loudness, other sound is not', () => {
  const random = createRandom(1)
  const [one, other] = [0, 1].map(() => Array.from({ length: 2000 }, random))
  const later = [...Array<number>(100).fill(0), ...one!].slice(0, 2000)
  assert.ok(isCopy(one!, later))
  assert.ok(isCopy(later, one!))
  assert.ok(!isCopy(one!, other!))
})

test('the first half hour decides', () => {
  const random = createRandom(1)
  const begin = Array.from({ length: HALF_HOUR }, random)
  const rest = () => Array.from({ length: 2000 }, () => 1000 * random())
  assert.ok(isCopy([...begin, ...rest()], [...begin, ...rest()]))
})
