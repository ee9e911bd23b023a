import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alignToEnergy, energyLevels } from './refine-word-times.ts'

/** One character per 10 ms: `#` is loud, `.` is silent. */
function dbOf(recording: string): Float32Array {
  return Float32Array.from(recording, (c) => (c === '#' ? -20 : -80))
}

function rounded(spans: readonly { start: number; end: number }[]): number[][] {
  return spans.map(({ start, end }) => [start, end].map((t) => Number(t.toFixed(2))))
}

test('a word shrinks to its audible part', () => {
  const db = dbOf(`${'.'.repeat(20)}${'#'.repeat(30)}${'.'.repeat(50)}`)
  assert.deepEqual(rounded(alignToEnergy([{ text: 'a', start: 0.02, end: 0.9 }], db)), [
    [0.18, 0.51],
  ])
})

test('words move by as much as attention is late or early', () => {
  const db = dbOf('#'.repeat(100))
  const words = [
    { text: 'a', start: 0.1, end: 0.4 },
    { text: 'b', start: 0.4, end: 0.7 },
  ]
  const starts = (delay: number) => rounded(alignToEnergy(words, db, { delay })).map(([s]) => s)
  assert.deepEqual(starts(0.02), [0.08, 0.38])
  assert.deepEqual(starts(-0.04), [0.14, 0.44])
  const end = (delay: number) => rounded(alignToEnergy(words, db, { delay }))[1]![1]
  assert.deepEqual([end(0.02), end(-0.04)], [0.68, 0.74])
})

test('sound before a pause inside a word is assigned to the word before', () => {
  const db = dbOf(`${'#'.repeat(30)}${'.'.repeat(30)}${'#'.repeat(30)}${'.'.repeat(10)}`)
  const spans = [
    { text: 'a', start: 0, end: 0.2 },
    { text: 'b', start: 0.2, end: 0.9 },
  ]
  assert.deepEqual(rounded(alignToEnergy(spans, db))[1], [0.58, 0.91])
})

test('a short sound after a pause does not become the word', () => {
  const db = dbOf(`${'#'.repeat(50)}${'.'.repeat(30)}${'#'.repeat(4)}${'.'.repeat(16)}`)
  assert.deepEqual(rounded(alignToEnergy([{ text: 'a', start: 0, end: 0.9 }], db)), [[0, 0.51]])
})

test('a number that was dictated with pauses lasts from its first to its last digit', () => {
  const [pause, digit, stray] = ['.'.repeat(20), '#'.repeat(30), '###']
  const db = dbOf(stray + pause + digit + pause + digit + pause + digit + pause)
  const align = (text: string) => rounded(alignToEnergy([{ text, start: 0, end: 1.73 }], db))
  assert.deepEqual(align('5-21'), [[0.21, 1.54]])
  assert.deepEqual(align('five'), [[1.21, 1.54]])
  assert.deepEqual(align('5'), [[1.21, 1.54]])
  const noisy = dbOf(digit + pause + digit + pause + stray)
  const span = { text: '21', start: 0, end: 1.03 }
  assert.deepEqual(rounded(alignToEnergy([span], noisy)), [[0, 0.81]])
})

test('words end with the audio, and start in it where there is room', () => {
  const db = dbOf(`${'.'.repeat(20)}${'#'.repeat(80)}`)
  const spans = [
    { text: 'a', start: 0.5, end: 0.9 },
    { text: 'b', start: 0.94, end: 0.99 },
  ]
  const within = (delay: number) => alignToEnergy(spans, db, { delay, seconds: 0.993 })
  assert.deepEqual(rounded(within(0)), [
    [0.5, 0.9],
    [0.94, 0.99],
  ])
  assert.equal(within(0)[1]!.end, 0.99)
  assert.equal(within(-0.04)[1]!.end, 0.99)
  assert.ok(within(-0.04)[1]!.start <= 0.96)
})

test('a word goes on until its sound ends, but not into sound that does not end', () => {
  const align = (tail: number) => {
    const db = dbOf(`${'.'.repeat(20)}${'#'.repeat(30 + tail)}${'.'.repeat(50 - tail)}`)
    return rounded(alignToEnergy([{ text: 'a', start: 0.2, end: 0.5 }], db))
  }
  assert.deepEqual(align(10), [[0.2, 0.61]])
  assert.deepEqual(align(30), [[0.2, 0.5]])
  assert.deepEqual(align(50), [[0.2, 0.5]])
})

test('a word without a place is not extended by the sound after it', () => {
  const db = dbOf(`${'.'.repeat(20)}${'#'.repeat(40)}${'.'.repeat(20)}`)
  const spans = [
    { text: 'a', start: 0.2, end: 0.5 },
    { text: 'b', start: 0.5, end: 0.5 },
    { text: 'c', start: 0.5, end: 0.5 },
  ]
  assert.deepEqual(rounded(alignToEnergy(spans, db)).slice(1), [
    [0.5, 0.5],
    [0.52, 0.52],
  ])
})

test('words never overlap, and start in order, for any audio', () => {
  const span = fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ min: 0, max: 0.6, noNaN: true }),
  )
  fc.assert(
    fc.property(
      fc.array(span, { maxLength: 15 }),
      fc.array(fc.constantFrom(-80, -50, -20), { minLength: 1, maxLength: 300 }),
      (steps, db) => {
        let at = 0
        const spans = steps.map(([gap, length]) => {
          const start = at + gap
          at = start + length
          return { text: 'a', start, end: at }
        })
        const snapped = alignToEnergy(spans, Float32Array.from(db))
        for (const [i, { start, end }] of snapped.entries()) {
          assert.ok(end >= start && start >= 0)
          const next = snapped[i + 1]
          if (next) assert.ok(next.start >= end && next.start > start)
        }
      },
    ),
  )
})

test('loudness is measured per 10 ms', () => {
  const audio = new Float32Array(480).fill(0.1, 160, 320)
  assert.deepEqual([...energyLevels(audio)].map(Math.round), [-100, -20, -100])
})
