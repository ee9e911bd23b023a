import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { floats, floatsOf, loadModel } from '../onnx-runtime.ts'
import { blockQuantize } from './block-quantize.ts'
import { elementType, type OnnxModel, type OnnxTensor, writeModel } from './onnx.ts'

const ROWS = 64
const COLUMNS = 8
const SCALE = 0.02
const ZERO_POINT = 120

/** Weights between -2.4 and 2.7, as bytes. */
const weights = Uint8Array.from({ length: ROWS * COLUMNS }, (_, i) => (i * 37) % 256)

/** x [batch, 64] → y [batch, 8] in the form that dynamic quantization writes. */
function quantizedProduct(): OnnxModel {
  const shape = (columns: number) => ({ dim: [{ dim_param: 'batch' }, { dim_value: columns }] })
  const value = (name: string, columns: number) => {
    return { name, type: { tensor_type: { elem_type: elementType.float, shape: shape(columns) } } }
  }
  const node = (op_type: string, input: string[], output: string[], to?: number) => {
    const attribute = to === undefined ? [] : [{ name: 'to', type: 2, i: to }]
    return { name: output[0]!, op_type, input, output, attribute }
  }
  const scale = { name: 'scale', dims: [1], data_type: elementType.float, float_data: [SCALE] }
  const zero = { name: 'zero', dims: [1], data_type: elementType.uint8, int32_data: [ZERO_POINT] }
  return {
    ir_version: 8,
    opset_import: [{ domain: '', version: 14 }],
    graph: {
      name: 'product',
      input: [value('x', ROWS)],
      output: [value('y', COLUMNS)],
      initializer: [
        { name: 'w', dims: [ROWS, COLUMNS], data_type: elementType.uint8, raw_data: weights },
        scale as unknown as OnnxTensor,
        zero as unknown as OnnxTensor,
      ],
      node: [
        node('DynamicQuantizeLinear', ['x'], ['xq', 'xs', 'xz']),
        node('MatMulInteger', ['xq', 'w', 'xz', 'zero'], ['sum']),
        node('Cast', ['sum'], ['sumf'], elementType.float),
        node('Mul', ['xs', 'scale'], ['s']),
        node('Mul', ['sumf', 's'], ['y']),
      ],
    },
  }
}

function exactProduct(x: Float32Array): number[] {
  return Array.from({ length: COLUMNS }, (_, column) => {
    return x.reduce(
      (sum, value, row) => sum + value * (weights[row * COLUMNS + column]! - ZERO_POINT) * SCALE,
      0,
    )
  })
}

async function run(model: OnnxModel, x: Float32Array): Promise<Float32Array> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-onnx-'))
  try {
    writeModel(join(folder, 'model.onnx'), model)
    const session = await loadModel(join(folder, 'model.onnx'))
    const { y } = await session.run({ x: floats(x, [x.length / ROWS, ROWS]) })
    await session.release()
    return floatsOf(y)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const quiet = Float32Array.from({ length: ROWS }, (_, i) => Math.sin(i) * 0.1)
const loud = Float32Array.from({ length: ROWS }, (_, i) => Math.cos(i) * 50)

test('the product keeps its weights and is nearer to the exact one', async () => {
  const exact = exactProduct(quiet)
  const distance = (found: Float32Array) =>
    Math.max(...exact.map((value, i) => Math.abs(value - found[i]!)))
  const before = distance(await run(quantizedProduct(), quiet))
  const after = distance(await run(blockQuantize(quantizedProduct()), quiet))
  assert.ok(after <= before * 1.05 && after < 0.02, `${after} against ${before}`)
})

test('a row does not depend on its neighbors in the batch', async () => {
  const together = Float32Array.from([...quiet, ...loud])
  const model = blockQuantize(quantizedProduct())
  const alone = await run(model, quiet)
  const beside = (await run(model, together)).subarray(0, COLUMNS)
  for (const [i, value] of alone.entries()) assert.ok(Math.abs(value - beside[i]!) < 1e-4)
  const spoilt = (await run(quantizedProduct(), together)).subarray(0, COLUMNS)
  assert.ok(
    alone.some((value, i) => Math.abs(value - spoilt[i]!) > 0.02),
    'the old form does',
  )
})

test('a model of another form is refused', () => {
  const model = quantizedProduct()
  model.graph.node = model.graph.node.filter((node) => node.op_type !== 'Cast')
  assert.throws(() => blockQuantize(model), TypeError)
})
