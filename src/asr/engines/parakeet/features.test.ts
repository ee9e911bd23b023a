import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFeatureExtractor } from './features.ts'

const extract = createFeatureExtractor(128)

test('feature extraction yields one frame per whole 10 ms', () => {
  for (const samples of [160, 16_000, 16_159, 16_160]) {
    const { frames, data } = extract(new Float32Array(samples))
    assert.equal(frames, Math.floor(samples / 160))
    assert.equal(data.length, 128 * frames)
  }
})

test('features of each mel band have mean 0 and standard deviation 1', () => {
  const { data, frames } = extract(Float32Array.from({ length: 16_000 }, (_, i) => Math.sin(i * i)))
  for (let mel = 0; mel < 128; mel++) {
    const band = data.subarray(mel * frames, (mel + 1) * frames)
    const mean = band.reduce((sum, value) => sum + value, 0) / frames
    const spread = Math.sqrt(
      band.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (frames - 1),
    )
    assert.ok(Math.abs(mean) < 1e-4 && Math.abs(spread - 1) < 1e-3)
  }
})

test('the onset of a tone raises the mel band of its frequency most', () => {
  const tone = Float32Array.from({ length: 32_000 }, (_, i) => {
    const noise = 0.001 * Math.sin(i * i)
    return i < 16_000 ? noise : noise + 0.5 * Math.sin((2 * Math.PI * 1000 * i) / 16_000)
  })
  const { data, frames } = extract(tone)
  const rise = Array.from(
    { length: 128 },
    (_, mel) => data[mel * frames + 150]! - data[mel * frames + 50]!,
  )
  // 1 kHz is 15 of 45.2 mel, so it lies in band 42 of 128.
  assert.ok(rise[42]! > 1.5 && rise[42]! > rise[100]!)
})

test('features match those of NeMo', () => {
  const sweep = Float32Array.from({ length: 16_100 }, (_, i) => {
    return 0.3 * Math.sin(i * i * 1e-4) + 0.05 * Math.sin(i * i)
  })
  const { data, frames } = extract(sweep)
  // What nemo128.onnx, the export of NeMo's own code in onnx-asr 0.12.0, makes of it.
  const expected = [
    { mel: 0, frame: 0, value: 4.2029 },
    { mel: 0, frame: 50, value: -1.0146 },
    { mel: 20, frame: 10, value: -1.6537 },
    { mel: 20, frame: 60, value: -1.4339 },
    { mel: 64, frame: 36, value: -0.269 },
    { mel: 64, frame: 70, value: 0.6605 },
    { mel: 80, frame: 52, value: -0.8184 },
    { mel: 100, frame: 66, value: 0.1929 },
    { mel: 127, frame: 99, value: 3.8262 },
  ]
  for (const { mel, frame, value } of expected) {
    const found = data[mel * frames + frame]!
    assert.ok(Math.abs(found - value) < 1e-3, `${found} is not ${value}`)
  }
})
