import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createLeakGate,
  createLeakMeter,
  createMeasurement,
  findLeaks,
  frameBands,
  LEAK_BLOCK,
  LEAK_FRAMES,
  LEAK_HOPS,
} from './crosstalk.ts'
import { SPECTRUM_SAMPLES } from './spectra.ts'

const FRAME = 512
const SAMPLES = LEAK_BLOCK * FRAME

/** Noise whose loudness changes as that of syllables does. */
function voice(seed: number): Float32Array<ArrayBuffer> {
  let state = seed
  return Float32Array.from({ length: SAMPLES }, (_, i) => {
    state = (state * 1664525 + 1013904223) >>> 0
    return 0.3 * (state / 2 ** 31 - 1) * Math.abs(Math.sin((i * (3 + seed)) / 16_000)) ** 2
  })
}

/**
 * Returns the share of the frames of channel 1 that are taken for a leak of channel 0;
 * `findsEarlier` as in recordings, which are read ahead.
 */
function leakedShare(first: Float32Array, second: Float32Array, findsEarlier = false): number {
  const measurement = createMeasurement()
  const measureLeaks = createLeakMeter({ findsEarlier })
  for (const at of LEAK_HOPS) {
    const planes = [first, second].map((samples) => samples.slice(at, at + SPECTRUM_SAMPLES))
    measureLeaks(measurement, planes as Float32Array<ArrayBuffer>[])
  }
  const leaks = findLeaks([measurement])
  const ahead = findsEarlier ? LEAK_FRAMES : 0
  const isLeaked = createLeakGate(2, ahead)
  let leaked = 0
  for (let at = 0; at < SAMPLES + ahead * FRAME; at += FRAME) {
    const frames = [first, second].map((samples) => frameBands(samples.slice(at, at + FRAME)))
    if (isLeaked(frames, leaks)[1]) leaked++
  }
  return leaked / LEAK_BLOCK
}

function leak(source: Float32Array, { decibels, delay }: { decibels: number; delay: number }) {
  return Float32Array.from(source, (_, i) => (source[i - delay] ?? 0) * 10 ** (decibels / 20))
}

for (const decibels of [-10, -15, -20, -30]) {
  test(`leakage at ${decibels} dB is detected, also at the delays of echoes`, () => {
    const source = voice(1)
    for (const delay of [0, 80, 640, 1600]) {
      const share = leakedShare(source, leak(source, { decibels, delay }))
      assert.ok(share > 0.9, `${share} at a delay of ${delay}`)
    }
  })
}

test('line echo is detected at delays up to 450 ms', () => {
  const source = voice(1)
  for (const delay of [2000, 3000, 4500, 5500, 7100]) {
    for (const findsEarlier of [false, true]) {
      const echo = leak(source, { decibels: -12, delay })
      const share = leakedShare(source, echo, findsEarlier)
      assert.ok(share > 0.85, `${share} at a delay of ${delay}`)
    }
  }
})

test('in recordings, leakage that precedes its source is detected', () => {
  const source = voice(1)
  for (const delay of [-1000, -2500, -5000, -7000]) {
    const share = leakedShare(source, leak(source, { decibels: -12, delay }), true)
    assert.ok(share > 0.8, `${share} at a delay of ${delay}`)
  }
})

test('replies of another voice are not echo', () => {
  const source = voice(1).fill(0, SAMPLES / 2)
  const reply = voice(2).map((sample, i) => (i < SAMPLES / 2 ? 0 : sample * 0.3))
  for (const findsEarlier of [false, true]) {
    assert.equal(leakedShare(source, reply, findsEarlier), 0)
  }
})

test("a channel's own speech is not leakage, with or without a leak", () => {
  const [source, target] = [voice(1), voice(2)]
  const silence = new Float32Array(SAMPLES)
  assert.equal(leakedShare(silence, target), 0)
  assert.equal(leakedShare(source, target), 0)
  const leaked = leak(source, { decibels: -15, delay: 40 })
  const both = target.map((sample, i) => sample + leaked[i]!)
  const share = leakedShare(source, both)
  // In the pauses of its own voice, the leak alone remains.
  assert.ok(share < 0.4, `${share}`)
})

test('a quiet voice that is absent from the louder channel is not leakage', () => {
  const quiet = voice(2).map((sample) => sample * 0.1)
  assert.equal(leakedShare(voice(1), quiet), 0)
})

test('equal channels are not leakage of each other', () => {
  const source = voice(1)
  assert.equal(leakedShare(source, source), 0)
})
