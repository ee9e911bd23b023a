import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  writeFiftiethFrameModel,
  writeFrameModel,
  writeMeanSquareModel,
  writeTwoInputModel,
} from '../../../../../test/support/asr/models/stand-in-speaker-models.ts'
import { createLogMel } from '../../features/log-mel.ts'
import { openFbankEmbedder } from './fbank-embedder.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-fbank-'))
after(() => rmSync(folder, { recursive: true }))
const modelPath = join(folder, 'model.onnx')
const { signal } = new AbortController()

const format = { sampleRate: 16_000, bins: 80, low: 20, high: 8000 }
const samples = Float32Array.from({ length: 48_000 }, (_, i) => {
  return 0.2 * Math.sin(i * i * 1e-4) * Math.sin(i / 2000)
})

/**
 * The fake model's output for a window whose first frame is `from`: the variance of each band, as a
 * direction.
 */
function variances(start: number, end: number, from = 0): number[] {
  const { mel } = createLogMel(format)(samples.subarray(start, end))
  const bands = Array.from({ length: 80 }, (_, bin) => {
    const band = Array.from({ length: 148 }, (_, t) => mel[(from + t) * 80 + bin]!)
    const mean = band.reduce((sum, value) => sum + value, 0) / band.length
    return band.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  })
  return bands.map((value) => value / Math.hypot(...bands))
}

test('embeddings are computed from mean-normalized mel energies and have length 1', async (t) => {
  writeMeanSquareModel(modelPath)
  const embedder = await openFbankEmbedder({ modelPath })
  t.after(() => embedder.close())
  assert.equal(embedder.dimension, 80)
  const regions = [
    { start: 0, end: 24_000 },
    { start: 24_005, end: 48_000 },
    { start: 1000, end: 41_000 },
  ]
  const windows = await embedder.embed(samples, regions, { signal })
  const times = windows.map(({ start, end }) => [start, end])
  assert.deepEqual(times, [
    [0, 24_000],
    [24_005, 48_000],
    [1000, 25_000],
    [13_000, 37_000],
    [17_000, 41_000],
  ])
  const wanted = new Map([
    [0, variances(0, 24_000)],
    [2, variances(1000, 41_000)],
    [3, variances(1000, 41_000, 75)],
    [4, variances(1000, 41_000, 100)],
  ])
  for (const [i, bands] of wanted) {
    const worst = Math.max(...bands.map((band, b) => Math.abs(band - windows[i]!.embedding[b]!)))
    assert.ok(worst < 1e-4, `window ${i}: ${worst}`)
  }
})

test('a window too short for the network is repeated', async (t) => {
  writeFiftiethFrameModel(modelPath)
  const embedder = await openFbankEmbedder({ modelPath })
  t.after(() => embedder.close())
  const [window] = await embedder.embed(samples, [{ start: 8000, end: 9600 }], { signal })
  const { mel, frames } = createLogMel(format)(samples.subarray(8000, 9600))
  assert.equal(frames, 8)
  const second = Array.from({ length: 80 }, (_, bin) => {
    const band = Array.from({ length: 8 }, (_, t) => mel[t * 80 + bin]!)
    return band[1]! - band.reduce((sum, value) => sum + value, 0) / 8
  })
  const worst = second.map((value, i) => value / Math.hypot(...second) - window!.embedding[i]!)
  assert.ok(worst.every((difference) => Math.abs(difference) < 1e-4))
})

test('invalid regions and an aborted signal are errors', async (t) => {
  writeMeanSquareModel(modelPath)
  const embedder = await openFbankEmbedder({ modelPath })
  t.after(() => embedder.close())
  const outside = [{ start: 0, end: 48_001 }]
  await assert.rejects(embedder.embed(samples, outside, { signal }), RangeError)
  const reason = new Error('enough')
  const stopped = embedder.embed(samples, [{ start: 0, end: 48_000 }], {
    signal: AbortSignal.abort(reason),
  })
  await assert.rejects(stopped, reason)
})

test('a model with other inputs or shapes is rejected with the reason', async () => {
  const causeOf = (pattern: RegExp) => (error: Error) => {
    assert.match(error.message, /^Cannot use .*model\.onnx as a speaker model$/)
    return pattern.test((error.cause as Error).message)
  }
  writeFrameModel(modelPath)
  await assert.rejects(openFbankEmbedder({ modelPath }), causeOf(/the shape \[1,100,80\]/))
  writeTwoInputModel(modelPath)
  await assert.rejects(openFbankEmbedder({ modelPath }), causeOf(/the inputs feats,more/))
})
