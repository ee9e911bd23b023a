import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { elementType, type OnnxModel, type OnnxTensor, writeModel } from '../../onnx/onnx.ts'
import { describeValue, floatTensor, newGraph, toModel } from '../../onnx/onnx-graph.ts'
import { floats, floatsOf, loadOptimizedModel } from '../../onnx/onnx-runtime.ts'
import { matMulPerRow, matMulPerTensor, quantizeRows } from '../graphs/int8-matmul.ts'
import { multipliesSignedExactly, withSignedWeights } from './signed-weights.ts'

const [INNER, OUTER] = [8, 4]

/** Listed instead of raw bytes, as small constants may be. */
const zeroPoint = {
  name: 'weights.zero',
  dims: [],
  data_type: elementType.uint8,
  int32_data: [120],
} as Partial<OnnxTensor> as OnnxTensor
const matrix = {
  bytes: {
    name: 'weights',
    dims: [INNER, OUTER],
    data_type: elementType.uint8,
    raw_data: Uint8Array.from({ length: INNER * OUTER }, (_, i) => (i * 37) % 256),
  },
  scale: floatTensor('weights.scale', [0.02], []),
  zeroPoint,
}

/** A graph of both operators that multiply bytes. */
function bothProducts(): OnnxModel {
  const graph = newGraph('products')
  const perRow = matMulPerRow(graph, quantizeRows(graph, 'x'), matrix)
  const perTensor = matMulPerTensor(graph, 'x', matrix)
  graph.add('Concat', [perRow, perTensor], { axis: 1 }, 'y')
  const input = describeValue('x', ['rows', INNER])
  return toModel(graph, [input], [describeValue('y', ['rows', OUTER * 2])])
}

async function run(t: TestContext, model: OnnxModel): Promise<number[]> {
  const file = join(await makeFolder(t), 'model.onnx')
  writeModel(file, model)
  const session = await loadOptimizedModel(file)
  // Small values, whose products do not overflow on any processor.
  const x = Float32Array.from({ length: 2 * INNER }, (_, i) => (i === 5 ? 1 : 0.01 * i - 0.04))
  const { y } = await session.run({ x: floats(x, [2, INNER]) })
  const products = [...floatsOf(y)]
  await session.release()
  return products
}

test('signed weights give the same products', async (t) => {
  const model = bothProducts()
  const signed = withSignedWeights(model)
  const types = signed.graph.initializer
    .filter(({ name }) => name.startsWith('weights') && !name.endsWith('scale'))
    .map(({ data_type }) => data_type)
  assert.deepEqual(types, [elementType.int8, elementType.int8])
  const products = await run(t, model)
  assert.equal(products.length, 4 * OUTER)
  assert.deepEqual(await run(t, signed), products)
})

test('products with signed weights are exact on processors with VNNI', {
  skip: !existsSync('/proc/cpuinfo') || process.arch !== 'x64',
}, async (t) => {
  const file = join(await makeFolder(t), 'product.onnx')
  const hasVnni = /^flags\s.* avx(512)?_vnni\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
  assert.equal(await multipliesSignedExactly(file), hasVnni)
  assert.equal(existsSync(file), false)
})
