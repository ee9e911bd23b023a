import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertBuilt } from '../../test/support/build-checksums.ts'
import { rounds } from '../../test/support/random/rounds.ts'
import { createResampler } from './resample.ts'

function resample(samples: Float32Array, from: number, cuts: number[] = []): Float32Array {
  const resampler = createResampler(from, 16_000)
  const output: number[] = []
  let at = 0
  for (const length of [...cuts, samples.length]) {
    output.push(...resampler.write(samples.subarray(at, at + length)))
    at += length
  }
  output.push(...resampler.flush())
  return Float32Array.from(output)
}

function tone(frequency: number, rate: number, seconds = 0.5): Float32Array {
  return Float32Array.from({ length: rate * seconds }, (_, i) => {
    return Math.sin((2 * Math.PI * frequency * i) / rate)
  })
}

/** Level relative to a full-scale tone, without the edges, where the filter meets silence. */
function decibels(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 4, (samples.length * 3) / 4)
  const power = middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length
  return 10 * Math.log10(2 * power + 1e-20)
}

const rates = [22_050, 32_000, 44_100, 48_000, 96_000, 44_056, 191_999]

test('resampling keeps tones up to 7 kHz within 0.1 dB', () => {
  for (const rate of rates) {
    for (const frequency of [100, 1000, 4000, 6000, 7000]) {
      const level = decibels(resample(tone(frequency, rate), rate))
      assert.ok(Math.abs(level) < 0.1, `${frequency} Hz of ${rate}: ${level} dB`)
    }
  }
})

test('resampling attenuates tones above 8 kHz below -80 dB', () => {
  for (const rate of rates) {
    for (const frequency of [8000, 8200, 9000, 10_500, 0.49 * rate]) {
      const level = decibels(resample(tone(frequency, rate), rate))
      assert.ok(level < -80, `${frequency} Hz of ${rate}: ${level} dB`)
    }
  }
})

test('upsampling telephone audio keeps its band without mirror images', () => {
  const output = resample(tone(3000, 8000), 8000)
  const expected = tone(3000, 16_000)
  const error = output.map((sample, i) => sample - expected[i]!)
  assert.ok(Math.abs(decibels(output)) < 0.1)
  assert.ok(decibels(error) < -40)
  assert.ok(decibels(resample(tone(3400, 8000), 8000)) > -0.1)
})

test('resampling does not shift the audio in time', () => {
  for (const rate of [8000, 11_025, 44_100, 48_000, 44_056]) {
    const output = resample(tone(440, rate), rate)
    const expected = tone(440, 16_000)
    const middle = [...output].slice(1000, -1000)
    const worst = Math.max(...middle.map((sample, i) => Math.abs(sample - expected[i + 1000]!)))
    assert.ok(worst < 2e-3, `${rate}: ${worst}`)
  }
})

test('resampling n samples yields n × 16000 / rate samples, rounded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(8000, ...rates), (n, rate) => {
      const output = resample(new Float32Array(n), rate)
      assert.equal(output.length, Math.round((n * 16_000) / rate))
    }),
    { numRuns: rounds(15) },
  )
})

test('resampling does not depend on how the input is split', () => {
  const noise = Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i * i))
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 12 }),
      fc.constantFrom(8000, 44_100, 48_000, 191_999),
      (cuts, rate) => {
        assert.deepEqual(resample(noise, rate, cuts), resample(noise, rate))
      },
    ),
    { numRuns: rounds(10) },
  )
})

test('audio at 16 kHz is not resampled', () => {
  const audio = tone(1000, 16_000)
  assert.deepEqual(resample(audio, 16_000, [100]), audio)
})

test('more input at a time than the module takes is resampled in parts', () => {
  const long = tone(440, 44_100, 4)
  const whole = resample(long, 44_100)
  assert.equal(whole.length, 64_000)
  assert.deepEqual(whole, resample(long, 44_100, Array(40).fill(4410)))
})

test('filters of several ratios are kept beside each other', () => {
  const [first, second] = [tone(440, 44_100), tone(440, 48_000)]
  const [before, other] = [resample(first, 44_100), resample(second, 48_000)]
  assert.deepEqual(resample(first, 44_100), before)
  assert.deepEqual(resample(second, 48_000), other)
})

test('convolve.wasm was built of the sources beside it', () => {
  const names = assertBuilt(join(import.meta.dirname, 'resample/convolve.sha256'))
  assert.deepEqual(names, ['build-convolve.sh', 'convolve.c', 'convolve.wasm'])
})
