import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { elementType, type OnnxGraph, type OnnxTensor, writeModel } from '../../onnx/onnx.ts'
import {
  describeNode,
  describeValue,
  floatTensor,
  type Graph,
  newGraph,
  toModel,
} from '../../onnx/onnx-graph.ts'
import { floats, floatsOf, loadOptimizedModel } from '../../onnx/onnx-runtime.ts'
import {
  addToMatrix,
  floatOf,
  type Int8Matrix,
  joinColumns,
  matMulPerRow,
  matMulPerTensor,
  quantizeRows,
  readByteMatrix,
  scaleMatrix,
} from './int8-matmul.ts'

const ROWS = 64
const COLUMNS = 8

const byte = (name: string, value: number): OnnxTensor => {
  return { name, dims: [], data_type: elementType.uint8, raw_data: new Uint8Array([value]) }
}

function matrixOf(name: string, { scale, zero }: { scale: number; zero: number }): Int8Matrix {
  const raw_data = Uint8Array.from({ length: ROWS * COLUMNS }, (_, i) => (i * 37) % 256)
  return {
    bytes: { name, dims: [ROWS, COLUMNS], data_type: elementType.uint8, raw_data },
    scale: floatTensor(`${name}_scale`, [scale], []),
    zeroPoint: byte(`${name}_zero`, zero),
  }
}

const first = { scale: 0.02, zero: 120 }
const second = { scale: 0.01, zero: 7 }

/** What the first or second matrix makes of a row, without rounding. */
function exactProduct(x: Float32Array, { scale, zero }: typeof first): number[] {
  const { raw_data } = matrixOf('exact', first).bytes
  return Array.from({ length: COLUMNS }, (_, column) => {
    return x.reduce(
      (sum, value, row) => sum + value * (raw_data[row * COLUMNS + column]! - zero) * scale,
      0,
    )
  })
}

/** Runs a graph from x [rows, 64] to y that `write` writes. */
async function run(write: (graph: Graph) => string, x: Float32Array): Promise<Float32Array> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-onnx-'))
  try {
    const graph = newGraph('product')
    graph.add('Identity', [write(graph)], {}, 'y')
    const [input, output] = ['x', 'y'].map((name) => describeValue(name, ['rows', 'columns']))
    writeModel(join(folder, 'model.onnx'), toModel(graph, [input!], [output!]))
    const session = await loadOptimizedModel(join(folder, 'model.onnx'))
    const { y } = await session.run({ x: floats(x, [x.length / ROWS, ROWS]) })
    await session.release()
    return floatsOf(y)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const quiet = Float32Array.from({ length: ROWS }, (_, i) => Math.sin(i) * 0.1)
const loud = Float32Array.from({ length: ROWS }, (_, i) => Math.cos(i) * 50)

const distance = (found: ArrayLike<number>, exact: readonly number[]) => {
  return Math.max(...exact.map((value, i) => Math.abs(value - found[i]!)))
}

test('quantized products per row and per tensor are close to exact ones', async () => {
  const matrix = matrixOf('m', first)
  const rows = await run((graph) => matMulPerRow(graph, quantizeRows(graph, 'x'), matrix), quiet)
  assert.ok(distance(rows, exactProduct(quiet, first)) < 0.02)
  const all = await run((graph) => matMulPerTensor(graph, 'x', matrix), quiet)
  assert.ok(distance(all, exactProduct(quiet, first)) < 0.02)
  const bias = floatTensor('bias', [1, 2, 3, 4, 5, 6, 7, 8])
  const biased = await run(
    (graph) => matMulPerRow(graph, quantizeRows(graph, 'x'), matrix, { bias }),
    quiet,
  )
  assert.ok(
    distance(
      biased,
      Array.from(rows, (value, i) => value + i + 1),
    ) < 1e-5,
  )
  const biasedAll = await run((graph) => matMulPerTensor(graph, 'x', matrix, bias), quiet)
  assert.ok(
    distance(
      biasedAll,
      Array.from(all, (value, i) => value + i + 1),
    ) < 1e-5,
  )
})

test('a row does not depend on its neighbors in the batch', async () => {
  const together = Float32Array.from([...quiet, ...loud])
  const matrix = matrixOf('m', first)
  const rows = (graph: Graph) => matMulPerRow(graph, quantizeRows(graph, 'x'), matrix)
  const alone = await run(rows, quiet)
  assert.deepEqual((await run(rows, together)).subarray(0, COLUMNS), alone)
  const all = (await run((graph) => matMulPerTensor(graph, 'x', matrix), together)).subarray(
    0,
    COLUMNS,
  )
  assert.ok(distance(all, exactProduct(quiet, first)) > 0.1, 'with one scale for all, it does')
})

test('a row of zeros stays zero', async () => {
  const rows = (graph: Graph) => matMulPerRow(graph, quantizeRows(graph, 'x'), matrixOf('m', first))
  const zeros = new Float32Array(COLUMNS)
  assert.deepEqual((await run(rows, new Float32Array(ROWS))).map(Math.abs), zeros)
})

test('joined matrices keep their scales and zero points', async () => {
  const joined = joinColumns([matrixOf('a', first), matrixOf('b', second)], 'both')
  const found = await run((graph) => matMulPerRow(graph, quantizeRows(graph, 'x'), joined), quiet)
  assert.ok(distance(found.subarray(0, COLUMNS), exactProduct(quiet, first)) < 0.02)
  assert.ok(distance(found.subarray(COLUMNS), exactProduct(quiet, second)) < 0.02)
})

test('a scaled matrix yields scaled products', async () => {
  const product = (matrix: Int8Matrix) => (graph: Graph) => {
    return matMulPerRow(graph, quantizeRows(graph, 'x'), matrix)
  }
  const plain = await run(product(matrixOf('m', first)), quiet)
  const scaled = await run(product(scaleMatrix(matrixOf('m', first), 0.25)), quiet)
  assert.ok(
    distance(
      scaled,
      Array.from(plain, (value) => value / 4),
    ) < 1e-6,
  )
})

/** A product in the form that dynamic quantization writes. */
function publishedGraph(): OnnxGraph {
  const { bytes, scale, zeroPoint } = matrixOf('w', first)
  const node = (operator: string, input: string[], output: string[]) => {
    return { ...describeNode(output, operator, input), name: `/part/${operator}` }
  }
  return {
    name: 'published',
    input: [],
    output: [],
    initializer: [bytes, scale, zeroPoint],
    node: [
      node('DynamicQuantizeLinear', ['x'], ['xq', 'xs', 'xz']),
      node('Mul', ['xs', 'w_scale'], ['s']),
      node('MatMulInteger', ['xq', 'w', 'xz', 'w_zero'], ['sum']),
      node('Cast', ['sum'], ['sumf']),
      node('Mul', ['sumf', 's'], ['y']),
    ],
  }
}

test('readByteMatrix finds a matrix by name and rejects other graphs', () => {
  const graph = publishedGraph()
  assert.deepEqual(readByteMatrix(graph, '/part/'), matrixOf('w', first))
  assert.throws(() => readByteMatrix(graph, '/other/'), TypeError)
  graph.node = graph.node.filter((node) => node.op_type !== 'Cast')
  assert.throws(() => readByteMatrix(graph, '/part/'), TypeError)
})

test('a change is added to a matrix within half a step of the new scale; zero stays zero', () => {
  const matrix = matrixOf('changed', first)
  // The change has the outer dimension first.
  const change = Float32Array.from({ length: COLUMNS * ROWS }, (_, i) => ((i * 13) % 40) / 20 - 1)
  const { bytes, scale, zeroPoint } = addToMatrix(matrix, change)
  const [step, zero] = [floatOf(scale), zeroPoint.raw_data[0]!]
  for (const [at, value] of bytes.raw_data.entries()) {
    const [row, column] = [Math.floor(at / COLUMNS), at % COLUMNS]
    const before = (matrix.bytes.raw_data[at]! - first.zero) * first.scale
    const wanted = before + change[column * ROWS + row]!
    assert.ok(Math.abs((value - zero) * step - wanted) <= step * 0.51, `${at}`)
  }
  assert.notEqual(step, first.scale)
})
