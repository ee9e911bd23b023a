import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNoise, isMostlyNoisy } from './noise.ts'
import { VAD_FRAME } from './vad-frames.ts'

/** Repeatable noise between -1 and 1 (Lehmer generator). */
function noise(): () => number {
  let seed = 42
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed / 2_147_483_647) * 2 - 1
  }
}

/** A tone that comes and goes twice a second, like syllables and pauses, and noise of a level. */
function toneOf(seconds: number, level: (second: number) => number): Float32Array {
  const next = noise()
  return Float32Array.from({ length: seconds * 16_000 }, (_, i) => {
    const t = i / 16_000
    const voice = t % 1 < 0.7 ? 0.2 * Math.sin(2 * Math.PI * 150 * t) : 0
    return voice + level(t) * next()
  })
}

test('a voice with silent pauses is not noisy, at any volume', () => {
  for (const gain of [1, 0.01]) {
    const quiet = toneOf(12, () => 0.001).map((sample) => gain * sample)
    assert.ok(findNoise(quiet).every((noisy) => noisy === 0))
  }
})

test('a voice whose pauses are nearly as loud is noisy', () => {
  assert.ok(findNoise(toneOf(12, () => 0.1)).every((noisy) => noisy === 1))
})

test('noise is detected per part: a quiet part of the recording is not noisy', () => {
  const noisy = findNoise(toneOf(60, (t) => (t < 30 ? 0.001 : 0.1)))
  const at = (second: number) => noisy[Math.floor((second * 16_000) / VAD_FRAME)]
  assert.deepEqual([at(5), at(20), at(40), at(59)], [0, 0, 1, 1])
})

test('room noise in a long pause does not count as noise', () => {
  const audio = new Float32Array(60 * 16_000)
  audio.set(toneOf(30, () => 0.001))
  const room = toneOf(30, () => 0.1).map((sample) => 0.02 * sample)
  audio.set(room, 30 * 16_000)
  assert.ok(findNoise(audio).every((noisy) => noisy === 0))
})

test('findNoise returns one value per frame, including a short last one', () => {
  assert.equal(findNoise(new Float32Array(VAD_FRAME * 7 + 1)).length, 8)
  assert.equal(findNoise(new Float32Array(0)).length, 0)
})

test('a segment is mostly noisy when more than half of it is', () => {
  const noisyFor = (seconds: number) => toneOf(60, (t) => (t < seconds ? 0.1 : 0.001))
  assert.equal(isMostlyNoisy(noisyFor(45)), true)
  assert.equal(isMostlyNoisy(noisyFor(15)), false)
  assert.equal(isMostlyNoisy(new Float32Array(0)), false)
})
