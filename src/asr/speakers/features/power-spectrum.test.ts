import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPowerSpectrum } from './power-spectrum.ts'

test('the power spectrum matches a discrete Fourier transform', () => {
  for (const size of [4, 8, 256, 512]) {
    const samples = Float64Array.from({ length: size }, (_, i) => Math.sin(i * i) + 0.3)
    const power = new Float64Array(size / 2)
    createPowerSpectrum(size)(samples, power)
    for (let k = 0; k < size / 2; k++) {
      const turn = (i: number) => (2 * Math.PI * k * i) / size
      const real = samples.reduce((sum, sample, i) => sum + sample * Math.cos(turn(i)), 0)
      const imaginary = samples.reduce((sum, sample, i) => sum + sample * Math.sin(turn(i)), 0)
      const wanted = real ** 2 + imaginary ** 2
      assert.ok(Math.abs(power[k]! - wanted) < 1e-8 * size, `bin ${k} of ${size}`)
    }
  }
})

test('a size that is not a power of two is rejected', () => {
  assert.throws(() => createPowerSpectrum(200), RangeError)
})
