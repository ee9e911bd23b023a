import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { decodeMedia } from '../../../audio/decode-media.ts'
import { mean } from '../../../numbers.ts'
import { readSamples } from '../../segmentation/read-samples.ts'
import { isTooShort } from './implausible-words.ts'
import { placeBoundaries } from './place-boundaries.ts'

/** The words of test/fixtures/jfk.flac and where they start, by forced alignment. */
const spoken = [
  ['And', 0.29, 'so', 0.63, 'my', 0.97, 'fellow', 1.24, 'Americans,', 1.63, 'ask', 3.25],
  ['not', 3.99, 'what', 5.37, 'your', 5.61, 'country', 5.86, 'can', 6.42, 'do', 6.66],
  ['for', 6.91, 'you,', 7.05, 'ask', 8.15, 'what', 8.53, 'you', 8.82, 'can', 9.2],
  ['do', 9.37, 'for', 9.63, 'your', 9.78, 'country.', 9.99],
].flat()
const words = Array.from({ length: spoken.length / 2 }, (_, i) => {
  return { text: String(spoken[2 * i]), start: Number(spoken[2 * i + 1]) }
})
let audio: Float32Array

before(async () => {
  const fixture = new URL('../../../../test/fixtures/jfk.flac', import.meta.url).pathname
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  const limits = { signal: new AbortController().signal, maxSeconds: 60 }
  const { channels } = await decodeMedia(fixture, join(folder, 'pcm'), limits)
  const [pcm] = channels
  audio = readSamples(pcm!.path, 0, pcm!.samples)
  await rm(folder, { recursive: true })
})

/** Words that start earlier or later than they do, each until the next. */
function displaced(error: (i: number) => number) {
  const starts = words.map(({ start }, i) => start + error(i))
  return words.map(({ text }, i) => {
    return { text, start: starts[i]!, end: starts[i + 1] ?? 10.46 }
  })
}

test('words that seem to start too early or late are placed where they start', () => {
  const placed = placeBoundaries(
    displaced((i) => (i % 2 === 0 ? -0.04 : 0.04)),
    audio,
  )
  const error = mean(placed.map(({ start }, i) => Math.abs(start - words[i]!.start)))
  assert.ok(error < 0.025, `mean error ${error} s`)
})

test('words that touch go on touching; a pause stays', () => {
  const rough = displaced(() => 0.04)
  rough[4]!.end = 2.2
  const placed = placeBoundaries(rough, audio)
  assert.equal(placed[4]!.end, 2.2)
  assert.ok(placed[5]!.start > 3)
  for (const i of [0, 1, 2, 10, 18]) assert.equal(placed[i]!.end, placed[i + 1]!.start)
})

test('words that touch also go on touching where the next one starts later', () => {
  const placed = placeBoundaries(
    displaced(() => -0.05),
    audio,
  )
  for (const [i, { end }] of placed.slice(0, -1).entries()) assert.equal(end, placed[i + 1]!.start)
})

test('a word that starts before the end of the one before it shortens that one', () => {
  const rough = [
    { text: 'my', start: 0.97, end: 1.29 },
    { text: 'fellow', start: 1.33, end: 1.63 },
  ]
  const [my, fellow] = placeBoundaries(rough, audio)
  assert.ok(fellow!.start < 1.29)
  assert.equal(my!.end, fellow!.start)
})

test('the sound before a start counts, unless a long pause follows it', () => {
  const starts = (pause: number) => {
    return ['tests', 'a'].map((before) => {
      const words = [
        { text: before, start: 0.3, end: 0.9 - pause },
        { text: 'ask', start: 0.9, end: 1.5 },
      ]
      return placeBoundaries(words, audio)[1]!.start
    })
  }
  assert.notEqual(...(starts(0) as [number, number]))
  assert.equal(...(starts(0.5) as [number, number]))
})

test('a word after one without a place does not become too short', () => {
  const rough = [
    { text: 'And', start: 5.6, end: 5.602 },
    { text: 'your', start: 5.602, end: 5.655 },
  ]
  const [, your] = placeBoundaries(rough, audio)
  assert.ok(!isTooShort(your!))
})

test('words keep what else is known of them', () => {
  const [placed] = placeBoundaries([{ text: 'And', start: 0.3, end: 0.6, tokens: [4] }], audio)
  assert.deepEqual(placed?.tokens, [4])
})

test('words without a place stay too short, and take no time from the word before', () => {
  const last = { text: 'country.', start: 9.99, end: 10.4 }
  const crammed = ['And', 'so', 'my'].map((text, i) => {
    return { text, start: 10.4 + i * 0.02, end: 10.42 + i * 0.02 }
  })
  const [first, ...others] = placeBoundaries([last, ...crammed], audio)
  assert.equal(first?.end, 10.4)
  assert.deepEqual(others, crammed)
})

test('words never overlap, ascend, and only those that were too short are, for any times', () => {
  const milliseconds = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }))
  const length = milliseconds.map((ms) => ms / 1000)
  fc.assert(
    fc.property(fc.array(fc.tuple(length, length), { maxLength: 30 }), (steps) => {
      let at = 0
      const rough = steps.map(([gap, length]) => {
        const start = at + gap
        at = start + Math.max(0.005, length)
        return { text: 'a', start, end: at }
      })
      const placed = placeBoundaries(rough, audio)
      for (const [i, { start, end }] of placed.entries()) {
        assert.ok(start >= 0 && end >= start)
        assert.equal(isTooShort({ start, end }), isTooShort(rough[i]!))
        const next = placed[i + 1]
        if (next) assert.ok(next.start >= end && next.start > start)
      }
    }),
    { numRuns: 50 },
  )
})
