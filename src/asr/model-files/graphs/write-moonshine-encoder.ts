import { ENCODER_ROW } from '../../engines/moonshine/encoder.ts'
import type { OnnxGraph, OnnxModel, OnnxTensor } from '../../onnx/onnx.ts'
import {
  addLayerNormalization,
  describeValue,
  EPSILON,
  floatTensor,
  type Graph,
  newGraph,
  toModel,
} from '../../onnx/onnx-graph.ts'
import type { Adaptation } from '../adaptation/adaptation.ts'
import {
  addToMatrix,
  constantsOf,
  floatOf,
  type Int8Matrix,
  matMulPerTensor,
  readByteMatrix,
} from './int8-matmul.ts'
import { type Rotate, writeRotary } from './write-rotary.ts'

const HEADS = 8
/**
 * The number of positions of the rotary embedding, in frames of 24 ms: 49 s of audio, more than a
 * piece may have.
 */
const MAX_FRAMES = 2048
/** The last element, as the end of a slice. */
const TO_END = 2 ** 31 - 1

/**
 * Rewrites the encoder with the weights of `published`, changed by an `adaptation`: 15 operations
 * per layer instead of 66. As in the published graph, a product quantizes its whole input with one
 * scale.
 *
 * `input_values` f32 [rows, 64], audio at 16 kHz, -1 to 1 → `last_hidden_state` f32 [1, frames,
 * hidden], a frame per 24 ms.
 */
export function writeMoonshineEncoder(published: OnnxModel, adaptation?: Adaptation): OnnxModel {
  const weights = readWeights(published.graph, adaptation)
  const graph = newGraph('encoder')
  const rotate = writeRotary(graph, { heads: HEADS, positions: MAX_FRAMES })
  let states = writeFrontEnd(graph, weights)
  let normal = addLayerNormalization(graph, states, weights.gain('layers.0.input_layernorm'))
  const addAndNormalize = (change: string, gain: OnnxTensor) => {
    states = graph.add('Add', [states, change])
    normal = addLayerNormalization(graph, states, gain)
  }
  for (let layer = 0; layer < weights.layers; layer++) {
    const name = `layers.${layer}`
    const product = (part: string) => weights.product(`${name}.${part}`)
    const attended = attend(graph, normal, { product, rotate })
    addAndNormalize(attended, weights.gain(`${name}.post_attention_layernorm`))
    const multiply = (input: string, part: string) => {
      return matMulPerTensor(
        graph,
        input,
        product(`mlp.${part}`),
        weights.bias(`${name}.mlp.${part}`),
      )
    }
    const inner = graph.add('Gelu', [multiply(normal, 'fc1')])
    const isLast = layer + 1 === weights.layers
    const next = isLast ? 'layer_norm' : `layers.${layer + 1}.input_layernorm`
    addAndNormalize(multiply(inner, 'fc2'), weights.gain(next))
  }
  graph.add('Identity', [normal], {}, 'last_hidden_state')
  const input = describeValue('input_values', ['rows', ENCODER_ROW])
  const output = describeValue('last_hidden_state', [1, 'frames', weights.hidden])
  return toModel(graph, [input], [output])
}

type Weights = ReturnType<typeof readWeights>

/** Finds the constants of the published graph by the names of its parts, and adapts them. */
function readWeights(graph: OnnxGraph, adaptation?: Adaptation) {
  const tensors = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]))
  const nodes = new Map(graph.node.flatMap((node) => node.output.map((name) => [name, node])))
  const need = <T>(value: T | undefined, name: string): T => {
    if (value === undefined) throw new TypeError(`the encoder has another form: ${name}`)
    return value
  }
  const published = (name: string) => need(tensors.get(name), name)
  const adapt = (tensor: OnnxTensor, weight: string) => {
    const change = adaptation?.changeOf(weight)
    const floats = new Float32Array(new Uint8Array(tensor.raw_data).buffer)
    return change
      ? floatTensor(
          tensor.name,
          floats.map((x, i) => x + change[i]!),
          tensor.dims,
        )
      : tensor
  }
  const second = (output: string, weight: string) => {
    const [, name = ''] = need(nodes.get(output), output).input
    return adapt({ ...published(name), dims: [published(name).dims[0]!] }, weight)
  }
  return {
    published,
    bias: (part: string) => adapt(published(`${part}.bias`), `${part}.bias`),
    gain: (part: string) => adapt(published(`${part}.weight`), `${part}.weight`),
    product: (part: string) => {
      const matrix = readByteMatrix(graph, `/${part.replaceAll(/\.(?!\d)/g, '/')}/`)
      const change = adaptation?.changeOf(`${part}.weight`)
      return change ? addToMatrix(matrix, change) : matrix
    },
    changeOf: (weight: string) => adaptation?.changeOf(weight),
    layers: graph.node.filter(({ name }) => name.endsWith('/mlp/fc1/MatMul_quant')).length,
    hidden: published('conv3.bias').dims[0]!,
    /** The factors and addends of the normalization after the first convolution. */
    groupGain: second('/groupnorm/Mul_output_0', 'groupnorm.weight'),
    groupBias: second('/groupnorm/Add_output_0', 'groupnorm.bias'),
  }
}

/**
 * Writes the convolutional front end: three convolutions as products of unfolded rows, with time as
 * the first dimension. A convolution of the runtime takes a quarter longer.
 */
function writeFrontEnd(graph: Graph, weights: Weights): string {
  const { hidden, groupGain, groupBias } = weights
  const multiply = (input: string, floats: OnnxTensor, bias?: OnnxTensor) => {
    const product = graph.add('MatMul', [input, graph.constant(floats)])
    return bias ? graph.add('Add', [product, graph.constant(bias)]) : product
  }
  const rows = unfold(graph, 'input_values', { kernel: 2, stride: 1 })
  const frames = graph.add('Tanh', [multiply(rows, kernel(weights, 'conv1', 2 * ENCODER_ROW))])
  const flat = graph.add('Reshape', [frames, graph.integers(1, 1, -1)])
  const one = graph.constant(floatTensor('one', [1]))
  const zero = graph.constant(floatTensor('zero', [0]))
  const settings = { epsilon: { f: EPSILON } }
  const even = graph.add('InstanceNormalization', [flat, one, zero], settings)
  const shaped = graph.add('Reshape', [even, graph.integers(-1, hidden)])
  const scaled = graph.add('Mul', [shaped, graph.constant(groupGain)])
  const moved = graph.add('Add', [scaled, graph.constant(groupBias)])
  const sevens = unfold(graph, moved, { kernel: 7, stride: 3 })
  const second = graph.add('Gelu', [
    multiply(sevens, kernel(weights, 'conv2'), weights.bias('conv2')),
  ])
  const threes = unfold(graph, second, { kernel: 3, stride: 2 })
  const third = graph.add('Gelu', [
    multiply(threes, kernel(weights, 'conv3'), weights.bias('conv3')),
  ])
  return graph.add('Reshape', [third, graph.integers(1, -1, hidden)])
}

/** Writes the rows that a convolution multiplies: `kernel` neighbors, every `stride` rows. */
function unfold(
  graph: Graph,
  input: string,
  { kernel, stride }: { kernel: number; stride: number },
): string {
  const parts = Array.from({ length: kernel }, (_, i) => {
    const end = i + 1 < kernel ? i + 1 - kernel : TO_END
    const [from, to, axis, step] = [i, end, 0, stride].map((number) => graph.integers(number))
    return graph.add('Slice', [input, from!, to!, axis!, step!])
  })
  return graph.add('Concat', parts, { axis: 1 })
}

/**
 * Returns the kernel [outer, channels, width] of a convolution as [width * channels, outer], for
 * unfolded rows, followed by rows of zeros up to `rows`.
 */
function kernel(weights: Weights, name: string, rows?: number): OnnxTensor {
  const { raw_data, dims } = weights.published(`${name}.weight_quantized`)
  const [outer = 0, channels = 0, width = 0] = dims
  const scale = floatOf(weights.published(`${name}.weight_scale`))
  const addend = floatOf(weights.published(`${name}.weight_zero_point`))
  const change = weights.changeOf(`${name}.weight`)
  const bytes = new Int8Array(raw_data)
  const inner = width * channels
  const floats = new Float32Array((rows ?? inner) * outer)
  for (const [at, byte] of bytes.entries()) {
    const o = Math.floor(at / inner)
    const channel = Math.floor((at % inner) / width)
    const i = at % width
    floats[(i * channels + channel) * outer + o] = byte * scale + addend + (change?.[at] ?? 0)
  }
  return floatTensor(`${name}.weight`, floats, [rows ?? inner, outer])
}

type Layer = { product: (part: string) => Int8Matrix; rotate: Rotate }

function attend(graph: Graph, input: string, { product, rotate }: Layer): string {
  const rounded = graph.addAll('DynamicQuantizeLinear', [input], [true, true, true])
  const [bytes, scale, zero] = rounded as [string, string, string]
  const [query, key, value] = ['q', 'k', 'v'].map((part) => {
    const [own, ownScale, ownZero] = constantsOf(graph, product(`self_attn.${part}_proj`))
    return graph.add('MatMulIntegerToFloat', [bytes, own, scale, ownScale, zero, ownZero])
  }) as [string, string, string]
  const start = graph.integers(0)
  const inputs = [rotate(query, start), rotate(key, start), value]
  const attended = graph.add('MultiHeadAttention', inputs, { num_heads: HEADS })
  return matMulPerTensor(graph, attended, product('self_attn.dense'))
}
