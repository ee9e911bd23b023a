import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SPECTRUM_SAMPLES } from '../spectra.ts'
import {
  CROSSTALK_BLOCK,
  CROSSTALK_FRAMES,
  createCrosstalkGate,
  createCrosstalkMeter,
  createMeasurement,
  findCrosstalk,
  frameBands,
  framesToSilence,
  SPECTRUM_STARTS,
} from './crosstalk.ts'

const FRAME_SAMPLES = 512
const SAMPLES = CROSSTALK_BLOCK * FRAME_SAMPLES

/** Noise whose loudness changes as that of syllables does. */
function voice(seed: number): Float32Array<ArrayBuffer> {
  let state = seed
  return Float32Array.from({ length: SAMPLES }, (_, i) => {
    state = (state * 1664525 + 1013904223) >>> 0
    return 0.3 * (state / 2 ** 31 - 1) * Math.abs(Math.sin((i * (3 + seed)) / 16_000)) ** 2
  })
}

/**
 * Returns the share of the frames of channel 1 that are taken for crosstalk of channel 0;
 * `findsEarlier` as in recordings, which are read ahead.
 */
function crosstalkShare(first: Float32Array, second: Float32Array, findsEarlier = false): number {
  const measurement = createMeasurement()
  const measureCrosstalk = createCrosstalkMeter({ findsEarlier })
  for (const at of SPECTRUM_STARTS) {
    const planes = [first, second].map((samples) => samples.slice(at, at + SPECTRUM_SAMPLES))
    measureCrosstalk(measurement, planes as Float32Array<ArrayBuffer>[])
  }
  const paths = findCrosstalk([measurement])
  const ahead = findsEarlier ? CROSSTALK_FRAMES : 0
  const isCrosstalk = createCrosstalkGate(2, { ahead })
  let count = 0
  for (let at = 0; at < SAMPLES + ahead * FRAME_SAMPLES; at += FRAME_SAMPLES) {
    const frames = [first, second].map((samples) =>
      frameBands(samples.slice(at, at + FRAME_SAMPLES)),
    )
    if (isCrosstalk(frames, paths)[1]) count++
  }
  return count / CROSSTALK_BLOCK
}

function attenuate(source: Float32Array, { decibels, delay }: { decibels: number; delay: number }) {
  return Float32Array.from(source, (_, i) => (source[i - delay] ?? 0) * 10 ** (decibels / 20))
}

for (const decibels of [-10, -15, -20, -30]) {
  test(`crosstalk at ${decibels} dB is detected, also at the delays of echoes`, () => {
    const source = voice(1)
    for (const delay of [0, 80, 640, 1600]) {
      const share = crosstalkShare(source, attenuate(source, { decibels, delay }))
      assert.ok(share > 0.9, `${share} at a delay of ${delay}`)
    }
  })
}

test('crosstalk under hum of the mains is detected', () => {
  const source = voice(1)
  const crosstalk = attenuate(source, { decibels: -15, delay: 80 })
  const hum = (i: number) => {
    const phase = (2 * Math.PI * 50 * i) / 16_000
    return 0.3 * Math.sin(phase) + 0.1 * Math.sin(3 * phase)
  }
  const share = crosstalkShare(
    source,
    crosstalk.map((sample, i) => sample + hum(i)),
  )
  assert.ok(share > 0.8, `${share}`)
})

test('line echo is detected at delays up to a second', () => {
  const source = voice(1)
  for (const delay of [2000, 3000, 4500, 5500, 7100, 9600, 13_000, 16_500]) {
    for (const findsEarlier of [false, true]) {
      const echo = attenuate(source, { decibels: -12, delay })
      const share = crosstalkShare(source, echo, findsEarlier)
      const filled = 1 - delay / SAMPLES
      assert.ok(share > 0.9 * filled, `${share} at a delay of ${delay}`)
    }
  }
})

test('in recordings, crosstalk that precedes its source is detected', () => {
  const source = voice(1)
  for (const delay of [-1000, -2500, -5000, -7000, -12_000]) {
    const share = crosstalkShare(source, attenuate(source, { decibels: -12, delay }), true)
    assert.ok(share > 0.8, `${share} at a delay of ${delay}`)
  }
})

test('replies of another voice are not echo', () => {
  const source = voice(1).fill(0, SAMPLES / 2)
  const reply = voice(2).map((sample, i) => (i < SAMPLES / 2 ? 0 : sample * 0.3))
  for (const findsEarlier of [false, true]) {
    assert.equal(crosstalkShare(source, reply, findsEarlier), 0)
  }
})

test("a channel's own speech is not crosstalk, with or without any", () => {
  const [source, target] = [voice(1), voice(2)]
  const silence = new Float32Array(SAMPLES)
  assert.equal(crosstalkShare(silence, target), 0)
  assert.equal(crosstalkShare(source, target), 0)
  const crosstalk = attenuate(source, { decibels: -15, delay: 40 })
  const both = target.map((sample, i) => sample + crosstalk[i]!)
  const share = crosstalkShare(source, both)
  // In the pauses of its own voice, the crosstalk alone remains.
  assert.ok(share < 0.4, `${share}`)
})

test('a quiet voice that is absent from the louder channel is not crosstalk', () => {
  const quiet = voice(2).map((sample) => sample * 0.1)
  assert.equal(crosstalkShare(voice(1), quiet), 0)
})

test('equal channels are not crosstalk of each other', () => {
  const source = voice(1)
  assert.equal(crosstalkShare(source, source), 0)
})

/** Silences frames: `#` is own speech, `x` crosstalk, and `X` crosstalk that is much louder. */
function silence(frames: string): string {
  const energies = [...frames].map((frame) => (frame === 'X' ? 100 : 1))
  const isCrosstalk = [...frames].map((frame) => frame !== '#')
  const silenced = framesToSilence(energies, isCrosstalk)
  return [...frames].map((frame, n) => (silenced[n] ? '.' : frame)).join('')
}

test('crosstalk is silenced unless its channel has more speech of its own around it', () => {
  assert.equal(silence('####x####'), '####x####')
  assert.equal(silence('####X####'), '####.####')
  assert.equal(silence('#xxxxxxx'), '#.......')
  assert.equal(silence('x######'), 'x######')
  assert.equal(silence(`${'#'.repeat(20)}${'x'.repeat(8)}`), `${'#'.repeat(20)}${'.'.repeat(8)}`)
})
