import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from '../../src/asr/onnx/onnx.ts'
import { elementType } from '../../src/asr/onnx/onnx.ts'
import type { Affine, Scaling, XVectorNetwork } from './network.ts'

/** Number of 16-bit floats among the element types of ONNX. */
const FLOAT16 = 10

/**
 * Whether the file holds 16-bit weights, half the size, which are made 32-bit again when it is
 * loaded.
 */
export type WeightFormat = { halfPrecision: boolean }

/**
 * Writes the network as one ONNX graph that runs its layers once over a region and embeds many
 * windows of it:
 * - `features` f32 [1, inputs, frames]
 * - `windows` f32 [frames - context, windows]: each column weighs the frames of one window, its sum
 *   is 1; frame 0 stands at the first whose whole context is there
 * - `embeddings` f32 [windows, dimension], not normalized
 */
export function toOnnx(network: XVectorNetwork, format: WeightFormat): OnnxModel {
  const graph = createGraph(format)
  const frames = addLayers(graph, network)
  const statistics = addPooling(graph, network, frames)
  const dimension = addEmbedding(graph, network, statistics)
  const [first] = network.layers
  const inputs = first!.affine.weights.columns / first!.affine.offsets.length
  return {
    ir_version: 8,
    opset_import: [{ domain: '', version: 17 }],
    graph: {
      name: 'x-vector',
      node: graph.node,
      initializer: graph.initializer,
      input: [
        value('features', [1, inputs, 'frames']),
        value('windows', ['pooled_frames', 'windows']),
      ],
      output: [value('embeddings', ['windows', dimension])],
    },
  }
}

/** A graph that is being written: its nodes and weights, in order. */
type Graph = ReturnType<typeof createGraph>

function createGraph({ halfPrecision }: WeightFormat) {
  const initializer: OnnxTensor[] = []
  const node: OnnxNode[] = []

  function add(op_type: string, input: string[], output: string, attribute: OnnxAttribute[] = []) {
    node.push({ name: output, op_type, input, output: [output], attribute })
    return output
  }
  function exact(name: string, dims: number[], values: Float32Array): string {
    initializer.push({ name, dims, data_type: elementType.float, raw_data: bytesOf(values) })
    return name
  }
  /** Adds weights in the precision of the format. */
  function constant(name: string, dims: number[], values: Float32Array): string {
    if (!halfPrecision) return exact(name, dims, values)
    const half = Float16Array.from(values)
    initializer.push({ name: `${name}.half`, dims, data_type: FLOAT16, raw_data: bytesOf(half) })
    const to = { name: 'to', type: 2, i: elementType.float }
    return add('Cast', [`${name}.half`], name, [to])
  }
  return { initializer, node, add, exact, constant }
}

/** Adds the layers that see frames; returns the output of the last, not scaled. */
function addLayers({ add, exact, constant }: Graph, { layers }: XVectorNetwork): string {
  let frames = 'features'
  let before: Scaling | undefined
  for (const [i, { affine, scaling }] of layers.entries()) {
    const folded = before ? fold(affine, before, affine.offsets.length) : affine
    const { weights, kernel, dilation } = convolutionOf(folded)
    const [rows, inputs] = [affine.weights.rows, weights.length / affine.weights.rows / kernel]
    const inputNames = [
      frames,
      constant(`layer${i}.weight`, [rows, inputs, kernel], weights),
      exact(`layer${i}.bias`, [rows], folded.bias),
    ]
    const convolved = add('Conv', inputNames, `layer${i}.affine`, [
      { name: 'kernel_shape', type: 7, ints: [kernel] },
      { name: 'dilations', type: 7, ints: [dilation] },
    ])
    frames = add('Relu', [convolved], `layer${i}`)
    before = scaling
  }
  return frames
}

/** Adds mean and deviation of the frames of each window; returns both, one after the other. */
function addPooling(
  { add, exact, initializer }: Graph,
  network: XVectorNetwork,
  frames: string,
): string {
  const { scaling, size } = poolingOf(network)
  const mean = add('MatMul', [frames, 'windows'], 'mean')
  const square = add('MatMul', [add('Mul', [frames, frames], 'squares'), 'windows'], 'square')
  const spread = add('Sub', [square, add('Mul', [mean, mean], 'mean.square')], 'variance')
  // The floor belongs after the last scaling, which is folded into the embedding.
  const floor = exact(
    'floor',
    [size, 1],
    scaling.factor.map((factor) => network.varianceFloor / factor ** 2),
  )
  const deviation = add('Sqrt', [add('Max', [spread, floor], 'floored')], 'deviation')
  const statistics = add('Concat', [mean, deviation], 'statistics', [
    { name: 'axis', type: 2, i: 1 },
  ])
  return add('Squeeze', [statistics, axes(initializer)], 'flat')
}

/** Adds the layers after the statistics; returns the size of an embedding. */
function addEmbedding(
  { add, exact, constant }: Graph,
  network: XVectorNetwork,
  statistics: string,
): number {
  const { scaling, size } = poolingOf(network)
  const last = fold(network.embedding.affine, withDeviations(scaling), 1)
  const dimension = last.bias.length
  const embedding = constant('embedding.weight', [dimension, 2 * size], last.weights.values)
  const bias = exact('embedding.bias', [dimension], last.bias)
  const affine = add('Gemm', [statistics, embedding, bias], 'embedding.affine', [
    { name: 'transA', type: 2, i: 1 },
    { name: 'transB', type: 2, i: 1 },
  ])
  const rectified = add('Relu', [affine], 'embedding.rectified')
  const factor = exact('embedding.factor', [dimension], network.embedding.scaling.factor)
  const term = exact('embedding.term', [dimension], network.embedding.scaling.term)
  add('Add', [add('Mul', [rectified, factor], 'embedding.scaled'), term], 'embeddings')
  return dimension
}

function poolingOf({ layers }: XVectorNetwork): { scaling: Scaling; size: number } {
  const { scaling } = layers.at(-1)!
  return { scaling, size: scaling.factor.length }
}

/** A deviation is scaled, but not moved. */
function withDeviations({ factor, term }: Scaling): Scaling {
  return {
    factor: Float32Array.of(...factor, ...factor),
    term: Float32Array.of(...term, ...new Float32Array(term.length)),
  }
}

/** The affine that takes its inputs before the scaling; exact, for nothing is padded. */
function fold(affine: Affine, { factor, term }: Scaling, repeats: number): Affine {
  const { rows, columns, values } = affine.weights
  const size = columns / repeats
  const folded = new Float32Array(values.length)
  const bias = new Float32Array(rows)
  for (let row = 0; row < rows; row++) {
    let sum = affine.bias[row]!
    for (let column = 0; column < columns; column++) {
      const weight = values[row * columns + column]!
      folded[row * columns + column] = weight * factor[column % size]!
      sum += weight * term[column % size]!
    }
    bias[row] = sum
  }
  return { ...affine, weights: { rows, columns, values: folded }, bias }
}

/**
 * Offsets in equal steps are the taps of a convolution: [row][offset][input] becomes
 * [row][input][tap].
 */
function convolutionOf({ offsets, weights }: Affine) {
  const kernel = offsets.length
  const dilation = kernel > 1 ? offsets[1]! - offsets[0]! : 1
  if (dilation < 1 || offsets.some((offset, i) => offset !== offsets[0]! + i * dilation)) {
    throw new Error(`Cannot use the network: its offsets ${offsets} are not in equal steps`)
  }
  const inputs = weights.columns / kernel
  const values = new Float32Array(weights.values.length)
  for (let row = 0; row < weights.rows; row++) {
    for (let tap = 0; tap < kernel; tap++) {
      for (let input = 0; input < inputs; input++) {
        const from = row * weights.columns + tap * inputs + input
        values[row * weights.columns + input * kernel + tap] = weights.values[from]!
      }
    }
  }
  return { weights: values, kernel, dilation }
}

function axes(initializer: OnnxTensor[]): string {
  const raw_data = new Uint8Array(BigInt64Array.of(0n).buffer)
  initializer.push({ name: 'axes', dims: [1], data_type: elementType.int64, raw_data })
  return 'axes'
}

function bytesOf(values: Float32Array | Float16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

function value(name: string, dims: readonly (string | number)[]) {
  const dim = dims.map((d) => (typeof d === 'string' ? { dim_param: d } : { dim_value: d }))
  return { name, type: { tensor_type: { elem_type: elementType.float, shape: { dim } } } }
}
