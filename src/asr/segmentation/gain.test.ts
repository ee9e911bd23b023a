import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEVEL_FRAMES, liveGain, normalizeLevel } from './gain.ts'

function tone(peak: number): Float32Array {
  return Float32Array.from({ length: 64_000 }, (_, i) => peak * Math.sin(i / 10))
}

function peakOf(audio: Float32Array): number {
  return audio.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)
}

test('audio at the usual level is unchanged', () => {
  const usual = tone(0.2)
  assert.equal(normalizeLevel(usual), usual)
})

test('an offset is removed, and does not count as loudness', () => {
  const shifted = (peak: number) => normalizeLevel(tone(peak).map((sample) => sample + 0.05))
  const meanOf = (audio: Float32Array) => audio.reduce((sum, x) => sum + x, 0) / audio.length
  assert.ok(Math.abs(meanOf(shifted(0.2))) < 0.001)
  assert.ok(Math.abs(peakOf(shifted(0.2)) - 0.2) < 0.001)
  assert.ok(Math.abs(peakOf(shifted(0.02)) - 0.3) < 0.01)
})

test('quiet audio is raised to the usual level', () => {
  assert.ok(Math.abs(peakOf(normalizeLevel(tone(0.02))) - 0.3) < 0.01)
})

test('very quiet audio is raised only up to the maximum gain', () => {
  assert.ok(Math.abs(peakOf(normalizeLevel(tone(0.001))) - 0.03) < 0.001)
})

test('a click does not prevent the gain of quiet audio, and is clipped', () => {
  const audio = tone(0.02)
  audio[30_000] = 0.9
  const raised = normalizeLevel(audio)
  assert.equal(peakOf(raised), 1)
  assert.ok(peakOf(raised.subarray(0, 20_000)) > 0.25)
})

test('normalizeLevel does not amplify silence', () => {
  assert.equal(peakOf(normalizeLevel(new Float32Array(1000))), 0)
  assert.equal(normalizeLevel(new Float32Array(0)).length, 0)
})

test('the live gain follows the level of the last seconds and ignores clicks', () => {
  const peaks = new Array<number>(LEVEL_FRAMES).fill(0.02)
  assert.ok(Math.abs(liveGain(peaks) - 15) < 1e-9)
  // Three of 312 peaks may be clicks.
  const clicked = peaks.with(10, 0.9).with(20, 0.9).with(30, 0.9)
  assert.ok(Math.abs(liveGain(clicked) - 15) < 1e-9)
  assert.equal(liveGain(clicked.with(40, 0.2)), 1)
  assert.equal(liveGain(peaks.with(-1, 0.5)), 2, 'a loud frame is not driven beyond full scale')
  assert.equal(liveGain(new Array(LEVEL_FRAMES).fill(0)), 1)
  assert.equal(liveGain(new Array(LEVEL_FRAMES).fill(0.0001)), 30)
})
