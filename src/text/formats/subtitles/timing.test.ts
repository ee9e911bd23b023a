import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { spaceCaptions, type TimingLimits } from './timing.ts'

const free: TimingLimits = {
  minDuration: 0,
  maxDuration: 7000,
  gap: 0,
  recordingEnd: Number.POSITIVE_INFINITY,
}

function space(times: [number, number][], limits: Partial<TimingLimits> = {}): [number, number][] {
  const captions = times.map(([start, end]) => ({ start, end }))
  return spaceCaptions(captions, { ...free, ...limits }).map(({ start, end }) => [start, end])
}

test('captions that do not overlap keep their times', () => {
  assert.deepEqual(
    space([
      [0, 10],
      [10, 20],
      [500, 600],
    ]),
    [
      [0, 10],
      [10, 20],
      [500, 600],
    ],
  )
})

test('captions are sorted by start, keeping the order of equal starts', () => {
  const captions = [
    { start: 3000, end: 6000, name: 'c' },
    { start: 1000, end: 5000, name: 'a' },
    { start: 1000, end: 5000, name: 'b' },
  ]
  assert.equal(
    spaceCaptions(captions, free)
      .map(({ name }) => name)
      .join(''),
    'abc',
  )
})

test('a caption ends when the next one starts', () => {
  assert.deepEqual(
    space([
      [0, 5000],
      [2000, 3000],
    ]),
    [
      [0, 2000],
      [2000, 3000],
    ],
  )
})

test('a shortened caption lasts a second, and the next one is delayed', () => {
  assert.deepEqual(
    space([
      [0, 5000],
      [400, 3400],
    ]),
    [
      [0, 1000],
      [1000, 3400],
    ],
  )
})

test('the next caption is delayed by the second and the gap', () => {
  const times: [number, number][] = [
    [0, 5000],
    [400, 3400],
  ]
  assert.deepEqual(space(times, { gap: 80 }), [
    [0, 1000],
    [1080, 3400],
  ])
})

test('the next caption is delayed only until the first is spoken', () => {
  assert.deepEqual(
    space([
      [0, 600],
      [400, 3400],
    ]),
    [
      [0, 600],
      [600, 3400],
    ],
  )
})

test('the next caption is delayed by at most half of its duration', () => {
  assert.deepEqual(
    space([
      [0, 5000],
      [400, 800],
    ]),
    [
      [0, 600],
      [600, 800],
    ],
  )
})

test('captions of one moment are shown in sequence for at least a millisecond', () => {
  assert.deepEqual(
    space([
      [5, 5],
      [5, 5],
      [5, 5],
    ]),
    [
      [5, 6],
      [6, 7],
      [7, 8],
    ],
  )
})

test('a short caption is not extended beyond the end of the recording', () => {
  const limits = { minDuration: 2000, recordingEnd: 6000 }
  assert.deepEqual(
    space(
      [
        [1000, 1100],
        [5000, 5100],
      ],
      limits,
    ),
    [
      [1000, 3000],
      [5000, 6000],
    ],
  )
  assert.deepEqual(space([[5000, 6500]], limits), [[5000, 6500]], 'no word is cut off')
})

test('a short caption is extended, but not into the next one', () => {
  const limits = { minDuration: 1000, maxDuration: 1500 }
  assert.deepEqual(
    space(
      [
        [0, 100],
        [5000, 5100],
        [5300, 5400],
      ],
      limits,
    ),
    [
      [0, 1000],
      [5000, 5300],
      [5300, 6300],
    ],
  )
  assert.deepEqual(space([[0, 9000]], limits), [[0, 1500]])
})

test('a gap shortens the previous caption and never moves the next one', () => {
  assert.deepEqual(
    space(
      [
        [0, 2000],
        [2000, 3000],
        [3020, 3500],
      ],
      { gap: 80 },
    ),
    [
      [0, 1920],
      [2000, 2940],
      [3020, 3500],
    ],
  )
})

test('without space for the gap the next caption is delayed', () => {
  assert.deepEqual(
    space(
      [
        [0, 50],
        [50, 2050],
      ],
      { gap: 80 },
    ),
    [
      [0, 1],
      [81, 2050],
    ],
  )
})

test('for any times captions do not overlap and respect limits and gap', () => {
  const times = fc.tuple(fc.nat(20_000), fc.nat(9000)).map(([start, length]): [number, number] => {
    return [start, start + length]
  })
  const limits = fc.record({
    minDuration: fc.nat(3000),
    maxDuration: fc.integer({ min: 3000, max: 8000 }),
    gap: fc.constantFrom(0, 80),
  })
  fc.assert(
    fc.property(fc.array(times, { maxLength: 40 }), limits, (times, limits) => {
      const spaced = space(times, limits)
      assert.equal(spaced.length, times.length)
      for (const [i, [start, end]] of spaced.entries()) {
        const [next] = spaced[i + 1] ?? [Number.POSITIVE_INFINITY]
        assert.ok(end > start && end - start <= limits.maxDuration && end + limits.gap <= next)
        const short = end - start < limits.minDuration
        assert.ok(!short || end + limits.gap === next, 'a short one reaches to the next')
      }
    }),
  )
})
