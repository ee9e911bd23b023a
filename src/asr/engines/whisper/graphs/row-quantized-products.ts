import type { Rows } from '../../../model-files/weight-files/safetensors.ts'
import type { WeightFile } from '../weights/weights.ts'
import type { GraphWriter } from './graph-writer.ts'
import { type GraphContext, normalized, product } from './layers.ts'

/** Activations are bytes of 1 to 255 around a zero point, weights are bytes with a sign. */
const ZERO_POINT = 128
const MAX_INT8 = 127
/** A row of zeros has no scale; any small one serves. */
const MIN_SCALE = 1e-9

/** The assumed peak of a normalized value, in standard deviations. */
const PEAK_DEVIATION = 3
/** The share of the spread between channels that moves from the activations to the weights. */
const SMOOTHQUANT_ALPHA = 0.7

/**
 * Returns a function that writes products of `input` with weights. It suits many rows at once, as
 * in the encoder: each row of the activations and each column of the weights is quantized to bytes
 * with its own scale. On processors without 8-bit dot products this takes half the time of the
 * block products of `layers.ts`, which are faster in the decoder, but it is less precise. In fp32
 * nothing is quantized.
 */
export function rowQuantizedProducts(
  context: GraphContext,
  input: string,
): (name: string, rows?: Rows) => string {
  if (context.precision === 'fp32') return (name, rows) => product(context, input, name, { rows })
  const activations = quantizeRows(context.graph, input)
  return (name, rows) => bytesProduct(context, activations, { name, rows })
}

/**
 * Writes a layer normalization `norm` and the products of its output with parts of the weights
 * `name`. Before rounding, channels that the normalization amplifies are divided by a factor that
 * their weights are multiplied by: rounding then loses less (SmoothQuant,
 * https://arxiv.org/abs/2211.10438, with the normalization's own gain in place of recorded
 * activations).
 */
export function normalizedProducts(
  context: GraphContext,
  input: string,
  { norm, name, parts }: { norm: string; name: string; parts: readonly (Rows | undefined)[] },
): string[] {
  if (context.precision === 'fp32') {
    const normal = normalized(context, input, norm)
    return parts.map((rows) => product(context, normal, name, { rows }))
  }
  const factors = channelFactors(context.weights, { norm, name })
  const activations = quantizeRows(context.graph, normalized(context, input, norm, factors))
  return parts.map((rows) => bytesProduct(context, activations, { name, rows, factors }))
}

/** Bytes of a value [1, rows, columns] and the scale of each row. */
type RowBytes = { bytes: string; scales: string }

function quantizeRows(graph: GraphWriter, input: string): RowBytes {
  const peaks = graph.node('ReduceMax', [graph.node('Abs', [input])], { axes: [-1], keepdims: 0 })
  const step = graph.floats('row-step', [1], Float32Array.of(1 / MAX_INT8))
  const smallest = graph.floats('smallest-scale', [1], Float32Array.of(MIN_SCALE))
  const scales = graph.node('Add', [graph.node('Mul', [peaks, step]), smallest])
  const flat = graph.node('Reshape', [scales, graph.integers(-1)])
  const zero = graph.bytes('row-zero', [1], Uint8Array.of(ZERO_POINT))
  const zeros = graph.node('Expand', [zero, graph.node('Shape', [flat])])
  return {
    bytes: graph.node('QuantizeLinear', [input, flat, zeros], { axis: 1 }),
    scales: graph.node('Unsqueeze', [scales, graph.integers(-1)]),
  }
}

type BytesProduct = { name: string; rows?: Rows | undefined; factors?: Float32Array }

function bytesProduct(
  { graph, weights }: GraphContext,
  input: RowBytes,
  { name, rows, factors }: BytesProduct,
): string {
  const label = rows ? `${name}.${rows[0]}` : name
  const matrix = weights.read(`${name}/weight`, rows)
  const inputs = weights.sizes(`${name}/weight`)![1]!
  const outputs = matrix.length / inputs
  if (factors) for (let i = 0; i < matrix.length; i++) matrix[i]! *= factors[i % inputs]!
  const { bytes, scales } = quantizeColumns(matrix, { outputs, inputs })
  const sum = graph.node('MatMulIntegerToFloat', [
    input.bytes,
    graph.signed(`${label}/weight`, [inputs, outputs], bytes),
    graph.floats('one', [1], Float32Array.of(1)),
    graph.floats(`${label}/scales`, [outputs], scales),
    graph.bytes('input-zero', [1], Uint8Array.of(ZERO_POINT)),
    graph.signed(`${label}/zeros`, [outputs], new Int8Array(outputs)),
  ])
  const scaled = graph.node('Mul', [sum, input.scales])
  if (!weights.sizes(`${name}/bias`)) return scaled
  const bias = graph.floats(`${label}/bias`, [outputs], weights.read(`${name}/bias`, rows))
  return graph.node('Add', [scaled, bias])
}

/** Rounds weights [outputs, inputs] to bytes [inputs, outputs] with a scale per output. */
function quantizeColumns(
  matrix: Float32Array,
  { outputs, inputs }: { outputs: number; inputs: number },
): { bytes: Int8Array; scales: Float32Array } {
  const bytes = new Int8Array(matrix.length)
  const scales = new Float32Array(outputs)
  for (let output = 0; output < outputs; output++) {
    const from = output * inputs
    let peak = 0
    for (let i = 0; i < inputs; i++) peak = Math.max(peak, Math.abs(matrix[from + i]!))
    scales[output] = peak / MAX_INT8
    const steps = peak === 0 ? 0 : MAX_INT8 / peak
    for (let i = 0; i < inputs; i++) {
      bytes[i * outputs + output] = Math.round(matrix[from + i]! * steps)
    }
  }
  return { bytes, scales }
}

/** Returns the divisor of each channel, from its gain, its offset and its largest weight. */
function channelFactors(
  weights: WeightFile,
  { norm, name }: { norm: string; name: string },
): Float32Array {
  const [gamma, beta] = [weights.read(`${norm}/gamma`), weights.read(`${norm}/beta`)]
  const matrix = weights.read(`${name}/weight`)
  const largest = new Float32Array(gamma.length)
  for (let i = 0; i < matrix.length; i++) {
    const channel = i % gamma.length
    largest[channel] = Math.max(largest[channel]!, Math.abs(matrix[i]!))
  }
  return gamma.map((gain, channel) => {
    const peak = Math.abs(gain) * PEAK_DEVIATION + Math.abs(beta[channel]!)
    const factor = peak ** SMOOTHQUANT_ALPHA / largest[channel]! ** (1 - SMOOTHQUANT_ALPHA)
    return Number.isFinite(factor) && factor > 0 ? factor : 1
  })
}
