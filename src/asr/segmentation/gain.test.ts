import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeLevel } from './gain.ts'

function tone(peak: number): Float32Array {
  return Float32Array.from({ length: 64_000 }, (_, i) => peak * Math.sin(i / 10))
}

function peakOf(audio: Float32Array): number {
  return audio.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)
}

test('sound at a usual level is left as it is', () => {
  const usual = tone(0.2)
  assert.equal(normalizeLevel(usual), usual)
})

test('quiet sound is raised to a usual level', () => {
  assert.ok(Math.abs(peakOf(normalizeLevel(tone(0.02))) - 0.3) < 0.01)
})

test('what is hardly there is raised only so far', () => {
  assert.ok(Math.abs(peakOf(normalizeLevel(tone(0.001))) - 0.03) < 0.001)
})

test('a click does not keep quiet sound quiet, and is cut at full scale', () => {
  const audio = tone(0.02)
  audio[30_000] = 0.9
  const raised = normalizeLevel(audio)
  assert.equal(peakOf(raised), 1)
  assert.ok(peakOf(raised.subarray(0, 20_000)) > 0.25)
})

test('silence stays silence', () => {
  assert.equal(peakOf(normalizeLevel(new Float32Array(1000))), 0)
  assert.equal(normalizeLevel(new Float32Array(0)).length, 0)
})
