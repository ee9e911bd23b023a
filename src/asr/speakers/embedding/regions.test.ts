import assert from 'node:assert/strict'
import test from 'node:test'
import { speechRegions } from './regions.ts'

/** Pairs of start and end in seconds; the returned regions are in milliseconds. */
function regionsOf(times: [number, number][], seconds = 10): [number, number][] {
  const words = times.map(([start, end]) => ({ text: 'a', start, end, confidence: 1 }))
  return speechRegions(words, seconds * 16_000).map(({ start, end }) => [start / 16, end / 16])
}

test('words share a region across pauses up to 0.3 s', () => {
  assert.deepEqual(
    regionsOf([
      [1, 1.5],
      [1.75, 2],
      [2.35, 3],
    ]),
    [
      [940, 2060],
      [2290, 3060],
    ],
  )
})

test('regions stay within the recording', () => {
  assert.deepEqual(
    regionsOf(
      [
        [0.01, 0.5],
        [1.9, 2.1],
      ],
      2,
    ),
    [
      [0, 560],
      [1840, 2000],
    ],
  )
  assert.deepEqual(regionsOf([[2.5, 3]], 2), [])
})

test('a word inside another does not shorten the region', () => {
  assert.deepEqual(
    regionsOf([
      [1, 3],
      [1.2, 1.4],
      [3.1, 4],
    ]),
    [[940, 4060]],
  )
})
