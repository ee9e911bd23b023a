import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileSegments, type SegmentOptions, splitSegments } from './split-segments.ts'
import { VAD_FRAME } from './vad-frames.ts'

/** Speech that is too long to be a fragment, or short. */
const SENTENCE = '#'.repeat(60)

/** One character per 32 ms frame: `#` is speech, `-` is doubtful, `.` is silence. */
function cut(
  speech: string,
  { isNoisy = false, ...options }: Partial<SegmentOptions> & { isNoisy?: boolean } = {},
) {
  const probabilities = Float32Array.from(speech, (c) => (c === '#' ? 0.9 : c === '-' ? 0.4 : 0.05))
  const noisy = new Uint8Array(speech.length).fill(isNoisy ? 1 : 0)
  const segments = splitSegments({ probabilities, noisy }, speech.length * VAD_FRAME, {
    ...fileSegments,
    maxSeconds: 15,
    padBefore: 0,
    padAfter: 0,
    minSilence: 0.128,
    minSpeech: 0.064,
    ...options,
  })
  return segments.map(({ start, end }) => `${start / VAD_FRAME}-${end / VAD_FRAME}`)
}

test('a segment spans speech and closes after the pause', () => {
  assert.deepEqual(cut(`..${SENTENCE}..##....${SENTENCE}..`), ['2-66', '70-130'])
})

test('frames of medium probability continue speech but do not start it', () => {
  assert.deepEqual(cut('--##----##....----'), ['2-10'])
})

test('a click shorter than the minimum speech is not a segment', () => {
  assert.deepEqual(cut('...#......##...'), ['10-12'])
  assert.deepEqual(cut('...#......#....'), [])
})

test('in noise, segments bridge longer pauses and have wider edges', () => {
  const speech = `${'.'.repeat(40)}${SENTENCE}${'.'.repeat(20)}${SENTENCE}${'.'.repeat(40)}`
  assert.deepEqual(cut(speech), ['40-100', '120-180'])
  assert.deepEqual(cut(speech, { isNoisy: true }), ['27.5-195.625'])
})

test('in noise, frames of medium probability are speech', () => {
  assert.deepEqual(cut('..........----..........'), [])
  assert.equal(cut('..........----..........', { isNoisy: true }).length, 1)
})

test('adjacent segments share a gap that is too short for the padding of both', () => {
  const options = { padBefore: 0.32, padAfter: 0.32 }
  const silence = '.'.repeat(12)
  const speech = `${silence}${SENTENCE}....${SENTENCE}${silence}`
  assert.deepEqual(cut(speech, options), ['2-74', '74-146'])
})

test('long speech is split at its weakest point', () => {
  const speech = `${'#'.repeat(24)}--#--${'#'.repeat(24)}`
  const [first] = cut(speech, { maxSeconds: 40 * 0.032 })
  assert.equal(first, '0-26')
})

test('fragments with pauses between them are joined, and their pauses recorded', () => {
  const digit = '#'.repeat(12)
  const pause = '.'.repeat(30)
  const probabilities = Float32Array.from(`${digit}${pause}${digit}${pause}${digit}`, (c) => {
    return c === '#' ? 0.9 : 0.05
  })
  const samples = probabilities.length * VAD_FRAME
  const options = { ...fileSegments, maxSeconds: 15 }
  const quiet = { probabilities, noisy: new Uint8Array(probabilities.length) }
  const [joined, ...others] = splitSegments(quiet, samples, options)
  assert.equal(others.length, 0)
  assert.deepEqual([joined!.start, joined!.end], [0, samples])
  assert.deepEqual(joined!.pauses, [
    { start: 12 * VAD_FRAME + 1600, end: 42 * VAD_FRAME - 800 },
    { start: 54 * VAD_FRAME + 1600, end: 84 * VAD_FRAME - 800 },
  ])
  // In noise, a pause of the detector may be speech.
  const noisy = new Uint8Array(probabilities.length).fill(1)
  const [whole] = splitSegments({ probabilities, noisy }, samples, options)
  assert.equal(whole!.pauses, undefined)
})

test('sentences and distant fragments are not joined', () => {
  const digit = '#'.repeat(12)
  for (const [speech, count] of [
    [`${SENTENCE}${'.'.repeat(40)}${digit}`, 2],
    [`${digit}${'.'.repeat(130)}${digit}`, 2],
  ] as const) {
    const probabilities = Float32Array.from(speech, (c) => (c === '#' ? 0.9 : 0.05))
    const options = { ...fileSegments, maxSeconds: 15 }
    const quiet = { probabilities, noisy: new Uint8Array(speech.length) }
    const segments = splitSegments(quiet, speech.length * VAD_FRAME, options)
    assert.deepEqual(
      segments.map(({ pauses = [] }) => pauses.length),
      Array.from({ length: count }, () => 0),
    )
  }
})

test('short speech is joined with the sentence beside it, unless the pause is long', () => {
  const words = '#'.repeat(44)
  const digits = `${'#'.repeat(12)}${'.'.repeat(20)}${'#'.repeat(12)}`
  for (const [speech, count] of [
    [`${SENTENCE}${'.'.repeat(25)}${words}`, 1],
    [`${words}${'.'.repeat(25)}${SENTENCE}`, 1],
    [`${SENTENCE}${'.'.repeat(40)}${words}`, 2],
    [`${SENTENCE}${'.'.repeat(25)}${SENTENCE}`, 2],
    [`${SENTENCE}${'.'.repeat(25)}${digits}`, 2],
    [`${digits}${'.'.repeat(25)}${SENTENCE}`, 2],
  ] as const) {
    const probabilities = Float32Array.from(speech, (c) => (c === '#' ? 0.9 : 0.05))
    const options = { ...fileSegments, maxSeconds: 15 }
    const quiet = { probabilities, noisy: new Uint8Array(speech.length) }
    assert.equal(splitSegments(quiet, speech.length * VAD_FRAME, options).length, count)
  }
})

test('a row of fragments is split into segments of about equal length', () => {
  const digit = '#'.repeat(12)
  const options = { ...fileSegments, maxSeconds: 15 }
  for (const [digits, pause] of [
    // 9.2 s of speech are more than the eight seconds of a segment.
    [24, 4],
    // Eight digits with pauses of 2.6 s take longer than the recognizer's limit.
    [8, 80],
  ] as const) {
    const speech = Array.from({ length: digits }, () => digit).join('.'.repeat(pause + 5))
    const probabilities = Float32Array.from(speech, (c) => (c === '#' ? 0.9 : 0.05))
    const quiet = { probabilities, noisy: new Uint8Array(speech.length) }
    const segments = splitSegments(quiet, speech.length * VAD_FRAME, options)
    assert.deepEqual(
      segments.map(({ pauses = [] }) => pauses.length + 1),
      [digits / 2, digits / 2],
    )
  }
})

test('no fragment of a row is left for a segment of its own', () => {
  // 6 fragments have 7 s of speech, 7 have more than eight.
  const fragment = '#'.repeat(36)
  const speech = Array.from({ length: 13 }, () => fragment).join('.'.repeat(19))
  const probabilities = Float32Array.from(speech, (c) => (c === '#' ? 0.9 : 0.05))
  const quiet = { probabilities, noisy: new Uint8Array(speech.length) }
  const options = { ...fileSegments, maxSeconds: 15 }
  const segments = splitSegments(quiet, speech.length * VAD_FRAME, options)
  assert.deepEqual(
    segments.map(({ pauses = [] }) => pauses.length + 1),
    [4, 5, 4],
  )
})

test('segments ascend, do not overlap and respect the recording and maximum length', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2000 }),
      (speech) => {
        const noisy = Uint8Array.from(speech, (_, i) => (i >> 7) & 1)
        const samples = Math.max(0, speech.length * VAD_FRAME - 100)
        const segments = splitSegments(
          { probabilities: Float32Array.from(speech), noisy },
          samples,
          {
            ...fileSegments,
            maxSeconds: 5,
          },
        )
        let previous = 0
        for (const { start, end } of segments) {
          assert.ok(start >= previous && end > start && end <= samples)
          assert.ok(end - start <= 5 * 16_000)
          previous = end
        }
      },
    ),
  )
})

test('every clearly voiced frame of longer speech lies in a segment', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 4, max: 400 }), { minLength: 1, maxLength: 20 }),
      (runs) => {
        const speech = runs.map((length, i) => (i % 2 === 0 ? '#' : '.').repeat(length)).join('')
        const inside = new Uint8Array(speech.length)
        for (const range of cut(speech)) {
          const [from = 0, to = 0] = range.split('-').map(Number)
          inside.fill(1, from, to)
        }
        for (const [frame, c] of [...speech].entries())
          if (c === '#') assert.equal(inside[frame], 1)
      },
    ),
  )
})
