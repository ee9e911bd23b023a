import { sum } from '../../../numbers.ts'
import { elementType, type OnnxGraph, type OnnxTensor } from '../../onnx/onnx.ts'
import { floatTensor, type Graph } from '../../onnx/onnx-graph.ts'

/**
 * A matrix [inner, outer] of bytes: `scale * (byte - zeroPoint)`, with one scale and zero point for
 * all or for each column.
 */
export type Int8Matrix = { bytes: OnnxTensor; scale: OnnxTensor; zeroPoint: OnnxTensor }

/** Rows of bytes, and the largest magnitude of each row, by their names. */
export type Int8Rows = { bytes: string; magnitude: string }

/** The byte that stands for 0, and the steps up to the largest magnitude of a row. */
const ZERO = 128
const STEPS = 127
const LARGEST_BYTE = 255

/**
 * Returns the matrix of the product whose name contains `part`, in a graph with dynamic
 * quantization: DynamicQuantizeLinear → MatMulInteger → Cast → Mul by both scales. Throws
 * `TypeError` where the graph has another form.
 */
export function readByteMatrix(graph: OnnxGraph, part: string): Int8Matrix {
  const need = <T>(value: T | undefined): T => {
    if (value === undefined) throw new TypeError(`a product has another form: ${part}`)
    return value
  }
  const tensor = (name = '') => graph.initializer.find((constant) => constant.name === name)
  const consumer = (name = '') => need(graph.node.find(({ input }) => input.includes(name)))
  const { input, output } = need(
    graph.node.find(({ op_type, name }) => op_type === 'MatMulInteger' && name.includes(part)),
  )
  const cast = consumer(output[0])
  const rescale = consumer(cast.output[0])
  const scales = rescale.input.find((name) => name !== cast.output[0])
  const product = need(graph.node.find((node) => node.output[0] === scales))
  return {
    bytes: need(tensor(input[1])),
    scale: need(product.input.map(tensor).find((constant) => constant !== undefined)),
    zeroPoint: need(tensor(input[3])),
  }
}

/** Joins matrices with the same rows side by side. */
export function joinColumns(matrices: readonly Int8Matrix[], name: string): Int8Matrix {
  const [inner = 0] = matrices[0]!.bytes.dims
  const widths = matrices.map(({ bytes }) => bytes.dims[1]!)
  const outer = sum(widths)
  const raw_data = new Uint8Array(inner * outer)
  let before = 0
  for (const [i, { bytes }] of matrices.entries()) {
    const width = widths[i]!
    for (let row = 0; row < inner; row++) {
      const values = bytes.raw_data.subarray(row * width, (row + 1) * width)
      raw_data.set(values, row * outer + before)
    }
    before += width
  }
  const scales = matrices.flatMap(({ scale }, i) => Array(widths[i]!).fill(floatOf(scale)))
  const zeros = matrices.flatMap(({ zeroPoint }, i) => Array(widths[i]!).fill(byteOf(zeroPoint)))
  const [{ bytes, zeroPoint }] = matrices as [Int8Matrix]
  return {
    bytes: { ...bytes, name: `${name}.bytes`, dims: [inner, outer], raw_data },
    scale: floatTensor(`${name}.scale`, scales),
    zeroPoint: {
      name: `${name}.zero`,
      dims: [outer],
      data_type: zeroPoint.data_type,
      raw_data: Uint8Array.from(zeros),
    },
  }
}

/**
 * Multiplies a matrix that has one scale by a number; only the scale changes, so products cost the
 * same.
 */
export function scaleMatrix(matrix: Int8Matrix, factor: number): Int8Matrix {
  const { name } = matrix.scale
  const scale = floatTensor(`${name}.by.${factor}`, [floatOf(matrix.scale) * factor], [])
  return { ...matrix, scale }
}

/**
 * Adds `change`, [outer, inner], to a matrix that has one scale, and rounds the sums to bytes with
 * a scale of their own.
 */
export function addToMatrix(matrix: Int8Matrix, change: Float32Array): Int8Matrix {
  const { bytes, scale, zeroPoint } = matrix
  const [inner = 0, outer = 0] = bytes.dims
  const [before, zero] = [floatOf(scale), byteOf(zeroPoint)]
  const sums = Float32Array.from(bytes.raw_data, (byte, at) => {
    const [row, column] = [Math.floor(at / outer), at % outer]
    return before * (byte - zero) + change[column * inner + row]!
  })
  const [low, high] = sums.reduce(([l, h], x) => [Math.min(l, x), Math.max(h, x)], [0, 0])
  const step = (high - low) / LARGEST_BYTE
  const newZero = Math.round(-low / step)
  const toByte = (x: number) => Math.round(x / step) + newZero
  return {
    bytes: { ...bytes, raw_data: new Uint8Array(Uint8ClampedArray.from(sums, toByte).buffer) },
    scale: floatTensor(scale.name, [step], []),
    zeroPoint: { ...zeroPoint, raw_data: Uint8Array.of(newZero), int32_data: [] },
  }
}

/**
 * Rounds each row to bytes by its own largest magnitude: the result of a row does not depend on the
 * rows beside it. A row of zeros stays zero.
 */
export function quantizeRows(graph: Graph, input: string): Int8Rows {
  const size = graph.add('Abs', [input])
  const magnitude = graph.add('ReduceMax', [size], { axes: [-1], keepdims: 1 })
  const relative = graph.add('Div', [input, magnitude])
  const step = graph.constant(floatTensor('rows.step', [1 / STEPS], []))
  const bytes = graph.add('QuantizeLinear', [relative, step, zeroByte(graph)])
  return { bytes, magnitude }
}

/** Multiplies rows from `quantizeRows` by a matrix, and adds `bias`. */
export function matMulPerRow(
  graph: Graph,
  { bytes, magnitude }: Int8Rows,
  matrix: Int8Matrix,
  { bias, output }: { bias?: OnnxTensor; output?: string } = {},
): string {
  const [weights, scale, zero] = constantsOf(graph, matrix)
  const step = graph.constant(floatTensor('rows.step', [1 / STEPS], []))
  const inputs = [bytes, weights, step, scale, zeroByte(graph), zero]
  const relative = graph.add('MatMulIntegerToFloat', inputs)
  if (!bias) return graph.add('Mul', [relative, magnitude], {}, output)
  const product = graph.add('Mul', [relative, magnitude])
  return graph.add('Add', [product, graph.constant(bias)], {}, output)
}

/** Multiplies values, all rounded to bytes by one scale, by a matrix, and adds `bias`. */
export function matMulPerTensor(
  graph: Graph,
  input: string,
  matrix: Int8Matrix,
  bias?: OnnxTensor,
): string {
  const last = bias ? [graph.constant(bias)] : []
  return graph.add('DynamicQuantizeMatMul', [input, ...constantsOf(graph, matrix), ...last])
}

/** The names of a matrix's bytes, scale and zero point as constants of a graph. */
export function constantsOf(
  graph: Graph,
  { bytes, scale, zeroPoint }: Int8Matrix,
): [string, string, string] {
  return [graph.constant(bytes), graph.constant(scale), graph.constant(zeroPoint)]
}

/** Returns the number in a constant with a single one. */
export function floatOf({ raw_data, float_data }: OnnxTensor): number {
  const [listed] = float_data ?? []
  return listed ?? new DataView(raw_data.buffer, raw_data.byteOffset).getFloat32(0, true)
}

function byteOf({ raw_data, int32_data }: OnnxTensor): number {
  const [listed] = int32_data ?? []
  return listed ?? raw_data[0]!
}

function zeroByte(graph: Graph): string {
  const raw_data = new Uint8Array([ZERO])
  return graph.constant({ name: 'rows.zero', dims: [], data_type: elementType.uint8, raw_data })
}
