import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeModel } from '../../src/asr/onnx/onnx.ts'
import { floats, floatsOf, loadModel } from '../../src/asr/onnx/onnx-runtime.ts'
import { readNnet3 } from './kaldi-reader.ts'
import { readXVectorNetwork } from './network.ts'
import { toOnnx, type WeightFormat } from './onnx-network.ts'
import { CONTEXT, INPUTS, networkBytes, plainEmbedding } from './small-network.fixture.ts'

const FRAMES = 30
const POOLED = FRAMES - 2 * CONTEXT
const features = Array.from({ length: FRAMES }, (_, t) => {
  return Array.from({ length: INPUTS }, (_, i) => 2 * Math.sin(t * t + 5 * i))
})
/** From and to; the last is one frame, whose deviation is at its floor. */
const windows = [
  [0, POOLED],
  [3, 15],
  [POOLED - 6, POOLED],
  [7, 8],
] as const

/** The largest difference of what ONNX Runtime computes from the steps one by one. */
async function worstDifference(format: WeightFormat): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-speaker-'))
  try {
    const file = join(folder, 'network.onnx')
    writeModel(file, toOnnx(readXVectorNetwork(readNnet3(networkBytes())), format))
    const session = await loadModel(file)
    const columns = Float32Array.from({ length: INPUTS * FRAMES }, (_, i) => {
      return features[i % FRAMES]![Math.floor(i / FRAMES)]!
    })
    const shares = new Float32Array(POOLED * windows.length)
    for (const [column, [from, to]] of windows.entries()) {
      for (let t = from; t < to; t++) shares[t * windows.length + column] = 1 / (to - from)
    }
    const { embeddings } = await session.run({
      features: floats(columns, [1, INPUTS, FRAMES]),
      windows: floats(shares, [POOLED, windows.length]),
    })
    await session.release()
    assert.deepEqual(embeddings?.dims, [windows.length, 3])
    const wanted = windows.flatMap(([from, to]) => plainEmbedding(features, from, to))
    const found = floatsOf(embeddings)
    return Math.max(...wanted.map((value, i) => Math.abs(value - found[i]!)))
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('the ONNX graph computes the same as the stored network for each window', async () => {
  const difference = await worstDifference({ halfPrecision: false })
  assert.ok(difference < 1e-4, `${difference}`)
})

test('16-bit weights change the output only by rounding', async () => {
  const difference = await worstDifference({ halfPrecision: true })
  assert.ok(difference > 1e-5 && difference < 2e-2, `${difference}`)
})

test('offsets that are not evenly spaced are refused', () => {
  const bytes = networkBytes((latin) => latin.replace('Offset(t1.norm, 2)', 'Offset(t1.norm, 3)'))
  const network = readXVectorNetwork(readNnet3(bytes))
  assert.throws(() => toOnnx(network, { halfPrecision: true }), /not in equal steps/)
})
