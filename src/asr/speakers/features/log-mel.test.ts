import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogMel, framesIn } from './log-mel.ts'

const format = { sampleRate: 8000, bins: 23, low: 20, high: 3700 }

function noise(length: number, loudness = 0.1): Float32Array {
  return Float32Array.from({ length }, (_, i) => loudness * Math.sin(i * i * 0.7))
}

/** One frame by the formulas of Kaldi, step by step, with a Fourier transform by definition. */
function plainFrame(samples: Float32Array): { mel: number[]; energy: number } {
  const scaled = [...samples].map((sample) => sample * 32_768)
  const mean = scaled.reduce((sum, sample) => sum + sample, 0) / 200
  const centered = scaled.map((sample) => sample - mean)
  const energy = centered.reduce((sum, sample) => sum + sample ** 2, 0) + 200
  const window = centered.map((_, i) => (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / 199)) ** 0.85)
  const shaped = centered.map(
    (sample, i) => (sample - 0.97 * centered[Math.max(0, i - 1)]!) * window[i]!,
  )
  const windowPower = window.reduce((sum, weight) => sum + weight ** 2, 0)
  const spectrum = Array.from({ length: 128 }, (_, k) => {
    const turn = (2 * Math.PI * k) / 256
    const real = shaped.reduce((sum, sample, i) => sum + sample * Math.cos(turn * i), 0)
    const imaginary = shaped.reduce((sum, sample, i) => sum + sample * Math.sin(turn * i), 0)
    const dither = windowPower * ((1 - 0.97 * Math.cos(turn)) ** 2 + (0.97 * Math.sin(turn)) ** 2)
    return real ** 2 + imaginary ** 2 + dither
  })
  const melOf = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const step = (melOf(3700) - melOf(20)) / 24
  const mel = Array.from({ length: 23 }, (_, bin) => {
    const [left, center, right] = [0, 1, 2].map((edge) => melOf(20) + (bin + edge) * step)
    const sum = spectrum.reduce((total, power, k) => {
      const at = melOf(k * 31.25)
      if (at <= left! || at >= right!) return total
      return total + power * (at <= center! ? (at - left!) / step : (right! - at) / step)
    }, 0)
    return Math.log(sum)
  })
  return { mel, energy: Math.log(energy) }
}

test('log-mel frames match the plain formulas', () => {
  const samples = noise(200 + 3 * 80)
  const { frames, mel, energy } = createLogMel(format)(samples)
  assert.equal(frames, 4)
  for (let t = 0; t < frames; t++) {
    const plain = plainFrame(samples.subarray(t * 80, t * 80 + 200))
    assert.ok(Math.abs(energy[t]! - plain.energy) < 1e-4)
    for (const [bin, wanted] of plain.mel.entries()) {
      assert.ok(Math.abs(mel[t * 23 + bin]! - wanted) < 1e-4, `frame ${t} bin ${bin}`)
    }
  }
})

test('digital silence has the energy of one 16-bit step of noise', () => {
  const { mel, energy } = createLogMel(format)(new Float32Array(200))
  assert.ok(Math.abs(energy[0]! - Math.log(200)) < 1e-6)
  assert.ok(mel.every((value) => value > -5 && value < 10))
})

test('a tone is loudest in the mel band of its frequency', () => {
  const tone = Float32Array.from(
    { length: 200 },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * 1000 * i) / 8000),
  )
  const { mel } = createLogMel(format)(tone)
  const loudest = mel.indexOf(Math.max(...mel))
  const center = ((1127 * Math.log(1 + 1000 / 700) - 31.75) / (2075 - 31.75)) * 24 - 1
  assert.ok(Math.abs(loudest - center) < 1, `${loudest} against ${center}`)
})

test('only whole frames are counted', () => {
  assert.deepEqual(
    [0, 199, 200, 279, 280].map((samples) => framesIn(samples, 8000)),
    [0, 0, 1, 1, 2],
  )
})

test('mel bands too narrow for the spectrum are rejected', () => {
  assert.throws(() => createLogMel({ ...format, bins: 200 }), RangeError)
})
