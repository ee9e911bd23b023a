import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writeMeanFrameModel } from '../../../../../test/support/asr/models/stand-in-speaker-models.ts'
import { createResampler } from '../../../../audio/resample.ts'
import { subtractCepstralMean } from '../../features/cepstral-mean.ts'
import { mfcc } from '../../features/mfcc.ts'
import type { Region, WindowEmbedding } from './embedder.ts'
import { openXvectorEmbedder } from './xvector-embedder.ts'
import { xvectorModelPath } from './xvector-model.ts'

const embedder = await openXvectorEmbedder({ modelPath: xvectorModelPath })
after(() => embedder.close())
const { signal } = new AbortController()

/**
 * A voice that passes through vowels: `pitch` in Hz, and formants scaled by `size`, as in a longer
 * vocal tract.
 */
function voice(seconds: number, { pitch, size }: { pitch: number; size: number }): Float32Array {
  const samples = new Float32Array(seconds * 16_000)
  let phase = 0
  for (let i = 0; i < samples.length; i++) {
    const t = i / 16_000
    phase += (2 * Math.PI * pitch * (1 + 0.1 * Math.sin(2 * t))) / 16_000
    const first = size * (500 + 250 * Math.sin(7.3 * t))
    const second = size * (1500 + 600 * Math.sin(4.1 * t + 1))
    let sum = 0
    for (let k = 1; k * pitch < 3600; k++) {
      const hz = k * pitch
      sum += (peak(hz, first) + 0.6 * peak(hz, second) + 0.02) * Math.sin(k * phase)
    }
    samples[i] = 0.05 * sum * (0.7 + 0.3 * Math.sin(2 * Math.PI * 4 * t))
  }
  return samples
}

function peak(hz: number, formant: number): number {
  return Math.exp(-(((hz - formant) / 150) ** 2))
}

function cosine(a: WindowEmbedding | undefined, b: WindowEmbedding | undefined): number {
  return a!.embedding.reduce((sum, value, i) => sum + value * b!.embedding[i]!, 0)
}

const man = voice(12, { pitch: 110, size: 1 })
const woman = voice(12, { pitch: 210, size: 1.18 })
const whole = { start: 0, end: man.length }
const grid = { length: 24_000, hop: 12_000 }
const fine = { length: 12_000, hop: 4000 }

test('windows are ordered by region, grid and start, with embeddings of length 1', async () => {
  const regions = [
    { start: 0, end: 1000 },
    { start: 1001, end: 30_000 },
    { start: 40_000, end: 60_001 },
  ]
  const windows = await embedder.embed(man, regions, {
    signal,
    grids: [grid, { ...grid, hop: 5000 }],
  })
  assert.deepEqual(
    windows.map(({ start, end }) => [start, end]),
    [
      [1001, 25_001],
      [6000, 30_000],
      [1001, 25_001],
      [6000, 30_000],
      [40_000, 60_001],
      [40_000, 60_001],
    ],
  )
  assert.equal(embedder.dimension, 128)
  for (const { embedding } of windows) {
    assert.equal(embedding.length, 128)
    assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-6)
  }
})

/** The frames of a region as the model gets them, from audio that was resampled as a whole. */
function framesOf({ start, end }: Region): Float32Array {
  const resampler = createResampler(16_000, 8000)
  const audio = Float32Array.of(...resampler.write(man), ...resampler.flush())
  const frames = mfcc(audio.subarray(start / 2, end / 2))
  subtractCepstralMean(frames, 23)
  return frames
}

test('each window is pooled from its own frames, also in long regions', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-telephone-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const modelPath = join(folder, 'mean.onnx')
  writeMeanFrameModel(modelPath)
  const standIn = await openXvectorEmbedder({ modelPath })
  t.after(() => standIn.close())
  for (const region of [whole, { start: 32_000, end: 80_000 }]) {
    const frames = framesOf(region)
    const grids = [{ length: 1600, hop: 16_000 }, fine, grid]
    const windows = await standIn.embed(man, [region], { signal, grids })
    for (const { start, end, embedding } of windows) {
      const from = (start - region.start) / 160
      const count = Math.floor((end - start - 400) / 160) + 1
      const mean = Array.from({ length: 23 }, (_, d) => {
        let sum = 0
        for (let i = from; i < from + count; i++) sum += frames[i * 23 + d]!
        return sum / count
      })
      const worst = mean.map((value, d) => Math.abs(value / Math.hypot(...mean) - embedding[d]!))
      assert.ok(Math.max(...worst) < 1e-5, `window at ${start}: ${Math.max(...worst)}`)
    }
  }
})

test('embeddings of one voice are more similar than those of two', async () => {
  const both = new Float32Array(2 * man.length)
  both.set(man)
  both.set(woman, man.length)
  const regions = [whole, { start: man.length, end: both.length }]
  const windows = await embedder.embed(both, regions, { signal })
  const [his, hers] = [windows.slice(0, 15), windows.slice(15)]
  assert.equal(hers[0]?.start, man.length)
  const same = Math.min(cosine(his[1], his[9]), cosine(hers[1], hers[9]))
  const different = Math.max(
    ...his.map((one) => Math.max(...hers.map((other) => cosine(one, other)))),
  )
  assert.ok(same > different + 0.05, `${same} against ${different}`)
})

test('embeddings are deterministic, with a default window of 1.5 s every 0.75 s', async () => {
  const once = await embedder.embed(man, [whole], { signal })
  assert.deepEqual(await embedder.embed(man, [whole], { signal }), once)
  assert.deepEqual(await embedder.embed(man, [whole], { signal, grids: [grid] }), once)
})

test('a window has the same embedding in every batch', async () => {
  const long = new Float32Array(3 * man.length)
  for (let i = 0; i < 3; i++) long.set(man, i * man.length)
  const region = { start: 0, end: long.length }
  const alone = await embedder.embed(long, [region], { signal, grids: [grid] })
  const among = await embedder.embed(long, [region], { signal, grids: [fine, grid] })
  const wide = await embedder.embed(long, [region], {
    signal,
    grids: [{ length: 24_000, hop: 192_000 }],
  })
  for (const [i, window] of among.slice(-alone.length).entries()) {
    assert.ok(cosine(window, alone[i]) > 0.999_99, `window ${i}`)
  }
  // The fourth of these lies at the same time as every sixteenth of the others.
  assert.ok(cosine(wide[1], alone[16]) > 0.999_99)
})

test('volume and frequencies above the telephone band do not change the embedding', async () => {
  const [reference] = await embedder.embed(man, [whole], { signal })
  const [quiet] = await embedder.embed(
    man.map((sample) => sample / 8),
    [whole],
    { signal },
  )
  assert.ok(cosine(reference, quiet) > 0.99, `quiet ${cosine(reference, quiet)}`)
  const bright = man.map((sample, i) => sample + 0.2 * Math.sin((2 * Math.PI * 5600 * i) / 16_000))
  const [same] = await embedder.embed(bright, [whole], { signal })
  assert.ok(cosine(reference, same) > 0.999, `bright ${cosine(reference, same)}`)
})

test('only the audio of the region affects the embedding', async () => {
  const region = { start: 32_001, end: 80_000 }
  const noisy = man.map((sample, i) => {
    const near = i > region.start - 400 && i < region.end + 400
    return near ? sample : Math.sin(i * i)
  })
  const clean = await embedder.embed(man, [region], { signal })
  assert.deepEqual(await embedder.embed(noisy, [region], { signal }), clean)
})

test('no regions yield no windows, and invalid ones an error', async () => {
  assert.deepEqual(await embedder.embed(man, [], { signal }), [])
  const outside = [{ start: 0, end: man.length + 1 }]
  await assert.rejects(embedder.embed(man, outside, { signal }), RangeError)
})

test('samples that are not numbers are an error', async () => {
  const broken = man.slice(0, 32_000).fill(Number.NaN, 500, 600)
  const region = { start: 0, end: broken.length }
  await assert.rejects(embedder.embed(broken, [region], { signal }), RangeError)
})

test('embedding stops when it is aborted', async () => {
  const reason = new Error('enough')
  const stopped = embedder.embed(man, [whole], { signal: AbortSignal.abort(reason) })
  await assert.rejects(stopped, reason)
})

test('a missing model file is an error', async () => {
  await assert.rejects(openXvectorEmbedder({ modelPath: `${xvectorModelPath}.none` }))
})

test('the built-in model has the documented checksum', () => {
  const record = readFileSync(new URL('../model/README.md', import.meta.url), 'utf8')
  const hash = createHash('sha256').update(readFileSync(xvectorModelPath)).digest('hex')
  assert.ok(record.includes(`| sha256 of \`xvector-8k.onnx\` | \`${hash}\` |`))
})
