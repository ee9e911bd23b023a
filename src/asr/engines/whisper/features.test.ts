import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFeatureExtractor } from './features.ts'

/** One second: a tone, and from the middle on a rising one. */
const signal = Float32Array.from({ length: 16_000 }, (_, i) => {
  const rising = i > 8000 ? 0.1 * Math.sin((2 * Math.PI * (100 + 0.1 * i) * i) / 16_000) : 0
  return 0.3 * Math.sin((2 * Math.PI * 440 * i) / 16_000) + rising
})

/**
 * Mel, frame and value, computed once by the feature extractor of faster-whisper 1.2.1 on the same
 * signal with silence up to 30 s.
 */
const references: Record<number, [mel: number, frame: number, value: number][]> = {
  80: [
    [0, 0, 0.87235],
    [0, 1, 0.36035],
    [0, 50, 0.1786],
    [0, 75, -0.67271],
    [0, 100, 0.72983],
    [10, 0, 1.22532],
    [10, 50, 1.23782],
    [10, 101, 0.24831],
    [40, 0, 0.30726],
    [40, 1, -0.2014],
    [40, 50, 0.93571],
    [40, 99, -0.60779],
    [40, 2999, -0.67271],
    [79, 50, -0.28035],
    [79, 100, -0.04648],
  ],
  128: [
    [0, 0, 0.7966],
    [0, 1, 0.28459],
    [10, 0, 0.87489],
    [10, 50, 0.10729],
    [10, 99, 0.17351],
    [40, 0, 0.63628],
    [40, 50, 0.31706],
    [40, 100, 0.44871],
    [127, 0, -0.19309],
    [127, 50, -0.28089],
    [127, 2999, -0.62557],
  ],
}

for (const [mels, values] of Object.entries(references)) {
  test(`features of ${mels} mel bands match those of Whisper`, () => {
    const { data, frames } = createFeatureExtractor(Number(mels))(signal, 3000)
    assert.equal(data.length, Number(mels) * 3000)
    for (const [mel, frame, value] of values) {
      const found = data[mel * frames + frame]!
      assert.ok(Math.abs(found - value) < 2e-4, `mel ${mel} frame ${frame}: ${found}, not ${value}`)
    }
  })
}

test('features of a short window equal the first frames of a long one', () => {
  const extract = createFeatureExtractor(80)
  const short = extract(signal, 151)
  const long = extract(signal, 3000)
  for (const frame of [0, 33, 100, 150]) {
    assert.equal(short.data[7 * 151 + frame], long.data[7 * 3000 + frame])
  }
})
