import {
  elementType,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from './onnx.ts'
import { describeModel, describeNode, describeValue, type Settings } from './onnx-graph.ts'

/** Attention heads whose rows follow the audio, by [layer, head]: they give the word times. */
export type AlignmentHeads = readonly (readonly [layer: number, head: number])[]

/** The graphs of a Moonshine decoder; see `writeMoonshineDecoder`. */
export type MoonshineDecoderGraphs = { cross: OnnxModel; decoder: OnnxModel }

const HEADS = 8
/** Positions that rotary embedding knows; 15 s of speech have at most 101 tokens. */
const MAX_POSITIONS = 512
const EPSILON = 1e-5
/** So many pairs of each head are turned by the position, pair `i` by 10000^(-i/16) per token. */
const PAIRS = 16
const LONGEST_TURN = 10_000
/** Weights per scale. */
const BLOCK = 32

/**
 * Writes the decoder anew with the weights of `published` (see `openPublishedDecoder`, after
 * `blockQuantize`): 24 operations per layer instead of 110. One graph serves the first and every
 * further call, so its weights are in memory once. The embedding is read from the weights of the
 * output, which are the same bytes.
 *
 * `cross`: `encoder_hidden_states` f32 [1, frames, hidden] → `present.L.encoder.key` and `.value`
 * f32 [1, heads, frames, head size] of each layer L.
 *
 * `decoder`: `input_ids` i64 [rows, tokens], `position` i64 [1] of the first of them,
 * `encoder_mask` f32 [rows, 1, 1, frames] (0 = audio, very negative = padding), and
 * `past_key_values.L.decoder.key`, `.value`, `.encoder.key`, `.value` → `logits` f32 [rows,
 * tokens, vocabulary], `log_sum_exp` over them f32 [rows, tokens], `attention` f32 [rows, alignment
 * heads, tokens, frames], `present.L.decoder.key` and `.value`.
 */
export function writeMoonshineDecoder(
  published: OnnxModel,
  heads: AlignmentHeads,
): MoonshineDecoderGraphs {
  const weights = readWeights(published.graph)
  return { cross: writeCross(weights), decoder: writeSteps(weights, heads) }
}

type Product = { blocks: OnnxTensor; scales: OnnxTensor; zeros: OnnxTensor; bias?: OnnxTensor }
type Weights = ReturnType<typeof readWeights>

/** Finds the constants of the published graph by the names of its parts. */
function readWeights(graph: OnnxGraph) {
  const tensors = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]))
  const need = <T>(found: T | undefined, name: string): T => {
    if (found === undefined) throw new TypeError(`the decoder has another form: ${name}`)
    return found
  }
  const starting = (prefix: string) => {
    return need(
      graph.initializer.find(({ name }) => name.startsWith(prefix)),
      prefix,
    )
  }
  const product = (part: string, bias?: string): Product => {
    const node = graph.node.find((n) => n.op_type === 'MatMulNBits' && n.name.includes(part))
    const [blocks, scales, zeros] = need(node, part)
      .input.slice(1, 4)
      .map((name) => {
        return need(tensors.get(name), name)
      }) as [OnnxTensor, OnnxTensor, OnnxTensor]
    return { blocks, scales, zeros, ...(bias && { bias: starting(bias) }) }
  }
  const layers = graph.output.filter(({ name }) => name.endsWith('.decoder.key')).length
  const head = product('head.sum/')
  const [, columns = 0] = head.blocks.dims
  return {
    layers,
    head,
    hidden: columns * BLOCK,
    product: (layer: number, part: string, bias?: string) => {
      const own = bias && `model.decoder.layers.${layer}.${bias}`
      return product(`/layers.${layer}/${part}/`, own)
    },
    gain: (layer: number, part: string) => starting(`model.decoder.layers.${layer}.${part}.weight`),
    lastGain: starting('model.decoder.norm.weight'),
    scale: starting('model.decoder.embed_tokens.weight_merged_0_scale'),
    zeroPoint: starting('model.decoder.embed_tokens.weight_merged_0_zero_point'),
  }
}

function writeCross(weights: Weights): OnnxModel {
  const graph = newGraph('cross')
  const outputs: OnnxValue[] = []
  for (let layer = 0; layer < weights.layers; layer++) {
    for (const [part, name] of [
      ['k_proj', 'key'],
      ['v_proj', 'value'],
    ] as const) {
      const product = weights.product(layer, `encoder_attn/${part}`)
      const flat = multiply(graph, 'encoder_hidden_states', product)
      const output = `present.${layer}.encoder.${name}`
      splitHeads(graph, flat, { hidden: weights.hidden, output })
      outputs.push(describeValue(output, [1, HEADS, 'frames', weights.hidden / HEADS]))
    }
  }
  const input = describeValue('encoder_hidden_states', [1, 'frames', weights.hidden])
  return finish(graph, [input], outputs)
}

function writeSteps(weights: Weights, heads: AlignmentHeads): OnnxModel {
  const { layers, hidden, head } = weights
  const graph = newGraph('decoder')
  const rotary = writeRotary(graph)
  const bytes = graph.add('Gather', [graph.constant(head.blocks), 'input_ids'], { axis: 0 })
  const rows = graph.add('Reshape', [bytes, graph.integers(0, 0, hidden)])
  const quantization = [graph.constant(weights.scale), graph.constant(weights.zeroPoint)]
  let states = graph.add('DequantizeLinear', [rows, ...quantization])
  let normal = graph.add(
    'LayerNormalization',
    [states, graph.constant(weights.gain(0, 'input_layernorm'))],
    { axis: -1, epsilon: { f: EPSILON } },
  )
  const scores: string[] = []
  const addAndNormalize = (change: string, gain: OnnxTensor) => {
    const outputs = graph.addAll(
      'SkipLayerNormalization',
      [states, change, graph.constant(gain)],
      [true, false, false, true],
      { epsilon: { f: EPSILON } },
    )
    ;[normal, states] = [outputs[0]!, outputs[3]!]
  }
  for (let layer = 0; layer < layers; layer++) {
    const attended = attendToText(graph, normal, { weights, layer, rotary })
    addAndNormalize(attended, weights.gain(layer, 'post_attention_layernorm'))
    const heard = attendToAudio(graph, normal, { weights, layer })
    scores.push(heard.scores)
    addAndNormalize(heard.output, weights.gain(layer, 'final_layernorm'))
    const up = multiply(graph, normal, weights.product(layer, 'mlp/up_proj', 'mlp.up_proj.bias'))
    const [linear, gate] = graph.addAll('Split', [up], [true, true], { axis: -1 })
    const open = graph.add('QuickGelu', [gate!], { alpha: { f: 1 } })
    const inner = graph.add('Mul', [open, linear!])
    const down = weights.product(layer, 'mlp/down_proj', 'mlp.down_proj.bias')
    const next = layer + 1 < layers ? weights.gain(layer + 1, 'input_layernorm') : weights.lastGain
    addAndNormalize(multiply(graph, inner, down), next)
  }
  multiply(graph, normal, head, 'logits')
  graph.add('ReduceLogSumExp', ['logits'], { axes: [-1], keepdims: 0 }, 'log_sum_exp')
  const aligned = heads.map(([layer, one]) => {
    return graph.add('Gather', [scores[layer]!, graph.integers(one)], { axis: 1 })
  })
  graph.add('Concat', aligned, { axis: 1 }, 'attention')
  return finish(graph, inputsOf(weights), outputsOf(weights, heads))
}

function inputsOf({ layers, hidden }: Weights): OnnxValue[] {
  const caches = eachCache(layers).flatMap((name) => {
    return (['decoder', 'encoder'] as const).map((side) => {
      const length = side === 'decoder' ? 'past' : 'frames'
      const dims = ['rows', HEADS, length, hidden / HEADS]
      return describeValue(`past_key_values.${name(side)}`, dims)
    })
  })
  return [
    describeValue('input_ids', ['rows', 'tokens'], 'int64'),
    describeValue('position', [1], 'int64'),
    describeValue('encoder_mask', ['rows', 1, 1, 'frames']),
    ...caches,
  ]
}

function outputsOf({ layers, hidden, head }: Weights, heads: AlignmentHeads): OnnxValue[] {
  return [
    describeValue('logits', ['rows', 'tokens', head.blocks.dims[0]!]),
    describeValue('log_sum_exp', ['rows', 'tokens']),
    describeValue('attention', ['rows', heads.length, 'tokens', 'frames']),
    ...eachCache(layers).map((name) => {
      return describeValue(`present.${name('decoder')}`, ['rows', HEADS, 'all', hidden / HEADS])
    }),
  ]
}

function eachCache(layers: number) {
  return Array.from({ length: layers }, (_, layer) => {
    return ['key', 'value'].map((part) => (side: string) => `${layer}.${side}.${part}`)
  }).flat()
}

type Graph = ReturnType<typeof newGraph>
type Layer = { weights: Weights; layer: number }

function attendToText(
  graph: Graph,
  input: string,
  { weights, layer, rotary }: Layer & { rotary: (rows: string) => string },
): string {
  const parts = ['q', 'k', 'v'].map((part) => weights.product(layer, `self_attn/${part}_proj`))
  const all = multiply(graph, input, joinProducts(parts, `layers.${layer}.self`))
  const [query, key, own] = graph.addAll('Split', [all], [true, true, true], { axis: -1 })
  const past = ['key', 'value'].map((part) => `past_key_values.${layer}.decoder.${part}`)
  const present = ['key', 'value'].map((part) => `present.${layer}.decoder.${part}`)
  const attended = `layers.${layer}.attended`
  graph.addAs(
    [attended, ...present],
    'MultiHeadAttention',
    [rotary(query!), rotary(key!), own!, '', '', '', ...past],
    { num_heads: HEADS, unidirectional: 1 },
  )
  return multiply(graph, attended, weights.product(layer, 'self_attn/dense'))
}

function attendToAudio(graph: Graph, input: string, { weights, layer }: Layer) {
  const { hidden } = weights
  const flat = multiply(graph, input, weights.product(layer, 'encoder_attn/q_proj'))
  const query = splitHeads(graph, flat, { hidden })
  const [key, own] = ['key', 'value'].map((part) => `past_key_values.${layer}.encoder.${part}`)
  const product = graph.add('FusedMatMul', [query, key!], {
    transB: 1,
    alpha: { f: (hidden / HEADS) ** -0.5 },
  })
  const scores = graph.add('Softmax', [graph.add('Add', [product, 'encoder_mask'])], { axis: -1 })
  const attended = graph.add('MatMul', [scores, own!])
  const turned = graph.add('Transpose', [attended], { perm: [0, 2, 1, 3] })
  const joined = graph.add('Reshape', [turned, graph.integers(0, 0, hidden)])
  return { scores, output: multiply(graph, joined, weights.product(layer, 'encoder_attn/dense')) }
}

function splitHeads(
  graph: Graph,
  flat: string,
  { hidden, output }: { hidden: number; output?: string },
): string {
  const split = graph.add('Reshape', [flat, graph.integers(0, 0, HEADS, hidden / HEADS)])
  return graph.add('Transpose', [split], { perm: [0, 2, 1, 3] }, output)
}

/**
 * Returns the function that turns queries or keys by their position, the first pairs of each head.
 */
function writeRotary(graph: Graph): (rows: string) => string {
  const table = (turn: (angle: number) => number) => {
    return Float32Array.from({ length: MAX_POSITIONS * PAIRS }, (_, i) => {
      return turn(Math.floor(i / PAIRS) * LONGEST_TURN ** (-(i % PAIRS) / PAIRS))
    })
  }
  const [cosines, sines] = [Math.cos, Math.sin].map((turn, i) => {
    const bytes = new Uint8Array(table(turn).buffer)
    const name = `rotary.${i}`
    return graph.constant({
      name,
      dims: [MAX_POSITIONS, PAIRS],
      data_type: elementType.float,
      raw_data: bytes,
    })
  })
  const settings = { interleaved: 1, num_heads: HEADS, rotary_embedding_dim: 2 * PAIRS }
  return (rows) => graph.add('RotaryEmbedding', [rows, 'position', cosines!, sines!], settings)
}

function multiply(graph: Graph, input: string, product: Product, output?: string): string {
  const { blocks, scales, zeros, bias } = product
  const constants = [blocks, scales, zeros].map((tensor) => graph.constant(tensor))
  const [N = 0, columns = 0] = blocks.dims
  const settings = { K: columns * BLOCK, N, bits: 8, block_size: BLOCK, accuracy_level: 4 }
  const last = bias ? ['', graph.constant(bias)] : []
  return graph.add('MatMulNBits', [input, ...constants, ...last], settings, output)
}

/** Joins products of the same input: their rows follow each other. */
function joinProducts(products: readonly Product[], name: string): Product {
  const join = (part: 'blocks' | 'scales' | 'zeros'): OnnxTensor => {
    const tensors = products.map((product) => product[part])
    const [first] = tensors
    const rows = tensors.reduce((sum, { dims }) => sum + dims[0]!, 0)
    const raw_data = new Uint8Array(Buffer.concat(tensors.map((tensor) => tensor.raw_data)))
    return { ...first!, name: `${name}.${part}`, dims: [rows, ...first!.dims.slice(1)], raw_data }
  }
  return { blocks: join('blocks'), scales: join('scales'), zeros: join('zeros') }
}

function newGraph(name: string) {
  const nodes: OnnxNode[] = []
  const constants = new Map<string, OnnxTensor>()
  function addAs(
    output: readonly string[],
    operator: string,
    input: readonly string[],
    settings?: Settings,
  ): void {
    nodes.push(describeNode(output, operator, input, settings))
  }
  const constant = (tensor: OnnxTensor): string => {
    constants.set(tensor.name, tensor)
    return tensor.name
  }
  return {
    name,
    nodes,
    constants,
    addAs,
    constant,
    add(op: string, input: readonly string[], settings?: Settings, output?: string): string {
      const name = output ?? `${op}.${nodes.length}.out`
      addAs([name], op, input, settings)
      return name
    },
    /** Adds an operation with several outputs; those that are not wanted have no name. */
    addAll(op: string, input: readonly string[], wanted: readonly boolean[], settings?: Settings) {
      const output = wanted.map((isWanted, i) => (isWanted ? `${op}.${nodes.length}.${i}` : ''))
      addAs(output, op, input, settings)
      return output
    },
    integers(...numbers: number[]): string {
      const raw_data = new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)
      const name = `integers.${numbers.join('.')}`
      return constant({ name, dims: [numbers.length], data_type: elementType.int64, raw_data })
    },
  }
}

function finish(
  { name, nodes, constants }: Graph,
  inputs: OnnxValue[],
  outputs: OnnxValue[],
): OnnxModel {
  return describeModel({ name, nodes, constants: constants.values(), inputs, outputs })
}
