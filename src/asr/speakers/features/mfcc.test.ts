import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogMel } from './log-mel.ts'
import { mfcc } from './mfcc.ts'

test('MFCCs are the liftered cosine transform of the log energies, after the energy', () => {
  const samples = Float32Array.from({ length: 360 }, (_, i) => 0.1 * Math.sin(i * i * 0.7))
  const { mel, energy } = createLogMel({ sampleRate: 8000, bins: 23, low: 20, high: 3700 })(samples)
  const cepstra = mfcc(samples)
  assert.equal(cepstra.length, 3 * 23)
  for (let t = 0; t < 3; t++) {
    assert.equal(cepstra[t * 23], energy[t])
    for (let k = 1; k < 23; k++) {
      let sum = 0
      for (let bin = 0; bin < 23; bin++) {
        sum += mel[t * 23 + bin]! * Math.cos((Math.PI * k * (2 * bin + 1)) / 46)
      }
      const wanted = sum * Math.sqrt(2 / 23) * (1 + 11 * Math.sin((Math.PI * k) / 22))
      assert.ok(Math.abs(cepstra[t * 23 + k]! - wanted) < 1e-3, `frame ${t} coefficient ${k}`)
    }
  }
})

test('audio shorter than a frame has no MFCCs', () => {
  assert.equal(mfcc(new Float32Array(199)).length, 0)
})
