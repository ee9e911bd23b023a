import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subtractCepstralMean } from './cepstral-mean.ts'

/** The mean over 300 frames around `t`, shifted inward at the ends. */
function plainMean(values: readonly number[], t: number): number {
  const start = Math.max(0, Math.min(t - 150, values.length - 300))
  const window = values.slice(start, start + 300)
  return window.reduce((sum, value) => sum + value, 0) / window.length
}

test('subtractSlidingMean subtracts the mean of the 300 frames around each value', () => {
  for (const count of [1, 20, 299, 300, 301, 1000]) {
    const first = Array.from({ length: count }, (_, t) => Math.sin(t * t) + t / 50)
    const second = first.map((value) => 100 - value)
    const frames = Float32Array.from(first.flatMap((value, t) => [value, second[t]!]))
    subtractCepstralMean(frames, 2)
    for (let t = 0; t < count; t++) {
      assert.ok(
        Math.abs(frames[2 * t]! - (first[t]! - plainMean(first, t))) < 1e-3,
        `${t} of ${count}`,
      )
      assert.ok(Math.abs(frames[2 * t + 1]! - (second[t]! - plainMean(second, t))) < 1e-3)
    }
  }
})

test('subtractSlidingMean accepts an empty array', () => {
  subtractCepstralMean(new Float32Array(0), 23)
})
