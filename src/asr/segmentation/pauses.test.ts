import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPauses, joinRanges, keptRanges, omittedSamples, restoreWordTimes } from './pauses.ts'

const FRAME = 512

function probabilities(speech: string): Float32Array {
  return Float32Array.from(speech, (c) => (c === '#' ? 0.9 : 0.05))
}

test('findPauses finds silences of at least a quarter of a second, also at the edges', () => {
  const speech = probabilities(`${'.'.repeat(10)}###...###${'.'.repeat(9)}`)
  assert.deepEqual(findPauses(speech, { start: 0, end: speech.length }), [
    { start: 0, end: 10 },
    { start: 19, end: 28 },
  ])
})

test('words in audio without pauses are mapped back to their original times', () => {
  const speech = probabilities(`##########${'.'.repeat(20)}##########`)
  const omitted = omittedSamples(findPauses(speech, { start: 0, end: speech.length }))
  const samples = speech.length * FRAME
  const ranges = keptRanges({ start: 0, end: samples }, omitted)
  const audio = Float32Array.from({ length: samples }, (_, i) => i / samples)
  const joined = joinRanges(audio, ranges)
  assert.equal(joined.length, 20 * FRAME + 0.15 * 16_000)
  const cut = (10 * FRAME) / 16_000 + 0.1
  const words = restoreWordTimes(
    [
      { text: 'one', start: 0.02, end: 0.3, confidence: 1 },
      { text: 'two', start: cut - 0.02, end: cut + 0.3, confidence: 1 },
    ],
    ranges,
  )
  const second = (30 * FRAME) / 16_000 - 0.05
  assert.deepEqual(
    words.map(({ start, end }) => [+start.toFixed(3), +end.toFixed(3)]),
    [
      [0.02, 0.3],
      [+second.toFixed(3), +(second + 0.3).toFixed(3)],
    ],
  )
})

test('a number that was dictated with pauses lasts from its first to its last digit', () => {
  const second = 16_000
  const ranges = [1, 3, 5, 7].map((start) => ({ start: start * second, end: (start + 1) * second }))
  const timesOf = (text: string, start: number, end: number) => {
    const [word] = restoreWordTimes([{ text, start, end, confidence: 1 }], ranges)
    return [word!.start, word!.end]
  }
  assert.deepEqual(timesOf('826-591', 0.5, 2.5), [1.5, 5.5])
  assert.deepEqual(timesOf('21', 0.5, 3.5), [1.5, 7.5])
  // The silence that was kept around the digits is none of them.
  assert.deepEqual(timesOf('42', 0.9, 2.1), [3, 4])
  // Neither a single digit nor a word is spoken with a pause in it.
  assert.deepEqual(timesOf('8', 0.5, 1.75), [3, 3.75])
  assert.deepEqual(timesOf('eight', 0.5, 1.75), [3, 3.75])
})
