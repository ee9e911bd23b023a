import type { Rows } from '../../../model-files/weight-files/safetensors.ts'
import type { WeightFile } from '../weights/weights.ts'
import type { GraphWriter } from './graph-writer.ts'

/** Weights are rounded in blocks of this many; it divides every size of the published models. */
export const BLOCK_WEIGHTS = 32
/** The byte that stands for 0: bytes hold -127 to 127, plus this. */
const ZERO_POINT = 128
const MAX_INT8 = 127
/**
 * The accuracy level at which ONNX Runtime also quantizes activations to bytes, in blocks of each
 * row.
 */
const BYTE_ACTIVATIONS = 4
const EPSILON = 1e-5

/** The inputs of the functions that write layers. */
export type GraphContext = {
  graph: GraphWriter
  weights: WeightFile
  precision: 'int8' | 'fp32'
  /** Awaited after each layer: lets other work run, and rejects to stop. */
  layerDone(): Promise<void>
}

/** A product: `rows` of the weights (all by default), multiplied by `factor` when written. */
export type Product = { rows?: Rows | undefined; factor?: number }

/** Writes input · weightsᵀ + bias with the weights `name`, and returns the output. */
export function product(
  context: GraphContext,
  input: string,
  name: string,
  { rows, factor = 1 }: Product = {},
): string {
  const { graph, weights, precision } = context
  const [outputs = 0, inputs = 0] = weights.sizes(`${name}/weight`) ?? []
  const [from, to] = rows ?? [0, outputs]
  const label = rows ? `${name}.${from}` : name
  const matrix = scaledBy(weights.read(`${name}/weight`, rows), factor)
  const size = { outputs: to - from, inputs }
  const hasBias = weights.sizes(`${name}/bias`) !== undefined
  const values = hasBias ? weights.read(`${name}/bias`, rows) : undefined
  const bias = values && graph.floats(`${label}/bias`, [to - from], scaledBy(values, factor))
  if (precision === 'fp32') {
    const turned = graph.floats(`${label}/weight`, [inputs, size.outputs], transposed(matrix, size))
    const sum = graph.node('MatMul', [input, turned])
    return bias ? graph.node('Add', [sum, bias]) : sum
  }
  const { blocks, scales } = blockConstants(graph, `${label}/weight`, matrix, size)
  return blockProduct(graph, [input, blocks, scales, ...(bias ? ['', '', bias] : [])], size)
}

type Size = { outputs: number; inputs: number }

/** Multiplies by weights in blocks; inputs are activations, weights, scales and perhaps a bias. */
export function blockProduct(
  graph: GraphWriter,
  inputs: readonly string[],
  { outputs: N, inputs: K }: Size,
): string {
  const settings = { K, N, bits: 8, block_size: BLOCK_WEIGHTS, accuracy_level: BYTE_ACTIVATIONS }
  return graph.node('MatMulNBits', inputs, settings)
}

/** Writes weights [outputs, inputs] as bytes [outputs, blocks, 32] and a scale per block. */
export function blockConstants(
  graph: GraphWriter,
  name: string,
  matrix: Float32Array,
  { outputs, inputs }: Size,
): { blocks: string; scales: string } {
  const { bytes, scales } = quantizeBlocks(matrix)
  const count = inputs / BLOCK_WEIGHTS
  return {
    blocks: graph.bytes(`${name}.blocks`, [outputs, count, BLOCK_WEIGHTS], bytes),
    scales: graph.floats(`${name}.scales`, [outputs, count], scales),
  }
}

/** Quantizes each block of 32 values to bytes around 128 with its own scale. */
function quantizeBlocks(values: Float32Array): { bytes: Uint8Array; scales: Float32Array } {
  const bytes = new Uint8Array(values.length)
  const scales = new Float32Array(values.length / BLOCK_WEIGHTS)
  for (let block = 0; block < scales.length; block++) {
    const [from, to] = [block * BLOCK_WEIGHTS, (block + 1) * BLOCK_WEIGHTS]
    let peak = 0
    for (let i = from; i < to; i++) peak = Math.max(peak, Math.abs(values[i]!))
    scales[block] = peak / MAX_INT8
    const steps = peak === 0 ? 0 : MAX_INT8 / peak
    for (let i = from; i < to; i++) bytes[i] = Math.round(values[i]! * steps) + ZERO_POINT
  }
  return { bytes, scales }
}

/** Looks up rows of the embedding that `blockConstants` wrote: [.., hidden] floats. */
export function blockRows(
  graph: GraphWriter,
  ids: string,
  { blocks, scales, hidden }: { blocks: string; scales: string; hidden: number },
): string {
  const float = 1
  const steps = graph.node('Cast', [graph.node('Gather', [blocks, ids])], { to: float })
  const zero = graph.floats('zero-point', [1], Float32Array.of(ZERO_POINT))
  const centered = graph.node('Sub', [steps, zero])
  const scale = graph.node('Unsqueeze', [graph.node('Gather', [scales, ids]), graph.integers(-1)])
  const values = graph.node('Mul', [centered, scale])
  return graph.node('Reshape', [values, graph.integers(0, 0, hidden)])
}

/**
 * Writes a layer normalization over the last axis; channels are divided by `divisors`, if given.
 */
export function normalized(
  { graph, weights }: GraphContext,
  input: string,
  name: string,
  divisors?: Float32Array,
): string {
  const constants = ['gamma', 'beta'].map((part) => {
    const values = weights.read(`${name}/${part}`).map((value, i) => value / (divisors?.[i] ?? 1))
    return graph.floats(`${name}/${part}`, [values.length], values)
  })
  return graph.node('LayerNormalization', [input, ...constants], {
    axis: -1,
    epsilon: { f: EPSILON },
  })
}

function scaledBy(values: Float32Array, factor: number): Float32Array {
  return factor === 1 ? values : values.map((value) => value * factor)
}

function transposed(matrix: Float32Array, { outputs, inputs }: Size): Float32Array {
  const result = new Float32Array(matrix.length)
  for (let row = 0; row < outputs; row++) {
    for (let i = 0; i < inputs; i++) result[i * outputs + row] = matrix[row * inputs + i]!
  }
  return result
}
