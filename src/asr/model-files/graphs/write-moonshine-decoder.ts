import type { OnnxGraph, OnnxModel, OnnxTensor, OnnxValue } from '../../onnx/onnx.ts'
import {
  addLayerNormalization,
  describeValue,
  type Graph,
  newGraph,
  toModel,
} from '../../onnx/onnx-graph.ts'
import {
  joinColumns,
  matMulPerRow,
  quantizeRows,
  readByteMatrix,
  scaleMatrix,
} from './int8-matmul.ts'
import { type Rotate, writeRotary } from './write-rotary.ts'

/** Attention heads whose rows follow the audio, by [layer, head]: they give the word times. */
export type AlignmentHeads = readonly (readonly [layer: number, head: number])[]

/** The graphs of a Moonshine decoder; see `writeMoonshineDecoder`. */
export type MoonshineDecoderGraphs = { cross: OnnxModel; decoder: OnnxModel }

const HEADS = 8
/** The number of positions of the rotary embedding; 15 s of speech have at most 101 tokens. */
const MAX_POSITIONS = 512

/**
 * Rewrites the decoder with the weights of `published` (see `openPublishedDecoder`) in half as many
 * operations. One graph serves the first and every further call, so its weights are in memory once.
 * The embedding is read from the weights of the output, which are the same bytes. The published
 * graph quantizes the whole input of a product with one scale; this one quantizes each row by
 * itself, so that the rows of a batch, and the tokens of a draft, do not depend on each other.
 *
 * `cross`: `encoder_hidden_states` f32 [1, frames, hidden] → `present.L.encoder.key` (divided by
 * the square root of the head size) and `.value` f32 [1, heads, frames, head size] of each layer L.
 *
 * `decoder`: `input_ids` i64 [rows, tokens], `position` i64 [1] of the first of them,
 * `encoder_mask` f32 [rows, 1, 1, frames] (0 = audio, very negative = padding), and
 * `past_key_values.L.decoder.key`, `.value`, `.encoder.key`, `.value` → `logits` f32 [rows, tokens,
 * vocabulary], the `largest_logit` f32 [rows, tokens] and its probability, `largest_probability`,
 * `attention` f32 [rows, alignment heads, tokens, frames], `present.L.decoder.key` and `.value`.
 */
export function writeMoonshineDecoder(
  published: OnnxModel,
  heads: AlignmentHeads,
): MoonshineDecoderGraphs {
  const weights = readWeights(published.graph)
  return { cross: writeCross(weights), decoder: writeSteps(weights, heads) }
}

type Weights = ReturnType<typeof readWeights>

/** Finds the constants of the published graph by the names of its parts. */
function readWeights(graph: OnnxGraph) {
  const need = <T>(value: T | undefined, name: string): T => {
    if (value === undefined) throw new TypeError(`the decoder has another form: ${name}`)
    return value
  }
  const starting = (prefix: string) => {
    return need(
      graph.initializer.find(({ name }) => name.startsWith(prefix)),
      prefix,
    )
  }
  const layers = graph.output.filter(({ name }) => name.endsWith('.decoder.key')).length
  const head = readByteMatrix(graph, 'head.sum/')
  const [hidden = 0] = head.bytes.dims
  return {
    layers,
    head,
    hidden,
    product: (layer: number, part: string) => readByteMatrix(graph, `/layers.${layer}/${part}/`),
    bias: (layer: number, part: string) => starting(`model.decoder.layers.${layer}.${part}.bias`),
    gain: (layer: number, part: string) => starting(`model.decoder.layers.${layer}.${part}.weight`),
    lastGain: starting('model.decoder.norm.weight'),
    scale: starting('model.decoder.embed_tokens.weight_merged_0_scale'),
    zeroPoint: starting('model.decoder.embed_tokens.weight_merged_0_zero_point'),
  }
}

function writeCross(weights: Weights): OnnxModel {
  const graph = newGraph('cross')
  const outputs: OnnxValue[] = []
  const rows = quantizeRows(graph, 'encoder_hidden_states')
  // The keys are scaled here: the runtime multiplies a single row faster if it need not scale it.
  const parts = [
    { part: 'k_proj', name: 'key', scale: (weights.hidden / HEADS) ** -0.5 },
    { part: 'v_proj', name: 'value', scale: 1 },
  ]
  for (let layer = 0; layer < weights.layers; layer++) {
    for (const { part, name, scale } of parts) {
      const product = scaleMatrix(weights.product(layer, `encoder_attn/${part}`), scale)
      const flat = matMulPerRow(graph, rows, product)
      const output = `present.${layer}.encoder.${name}`
      splitHeads(graph, flat, { hidden: weights.hidden, output })
      outputs.push(describeValue(output, [1, HEADS, 'frames', weights.hidden / HEADS]))
    }
  }
  const input = describeValue('encoder_hidden_states', [1, 'frames', weights.hidden])
  return toModel(graph, [input], outputs)
}

function writeSteps(weights: Weights, heads: AlignmentHeads): OnnxModel {
  const { layers, head } = weights
  const graph = newGraph('decoder')
  const rotate = writeRotary(graph, { heads: HEADS, positions: MAX_POSITIONS })
  const columns = graph.add('Gather', [graph.constant(head.bytes), 'input_ids'], { axis: 1 })
  const rows = graph.add('Transpose', [columns], { perm: [1, 2, 0] })
  const quantization = [graph.constant(weights.scale), graph.constant(weights.zeroPoint)]
  let states = graph.add('DequantizeLinear', [rows, ...quantization])
  let normal = addLayerNormalization(graph, states, weights.gain(0, 'input_layernorm'))
  const scores: string[] = []
  const addAndNormalize = (change: string, gain: OnnxTensor) => {
    states = graph.add('Add', [states, change])
    normal = addLayerNormalization(graph, states, gain)
  }
  for (let layer = 0; layer < layers; layer++) {
    const attended = attendToText(graph, normal, { weights, layer, rotate })
    addAndNormalize(attended, weights.gain(layer, 'post_attention_layernorm'))
    const attendedAudio = attendToAudio(graph, normal, { weights, layer })
    scores.push(attendedAudio.scores)
    addAndNormalize(attendedAudio.output, weights.gain(layer, 'final_layernorm'))
    const multiply = (rows: string, part: string) => {
      const bias = weights.bias(layer, `mlp.${part}`)
      return matMulPerRow(graph, quantizeRows(graph, rows), weights.product(layer, `mlp/${part}`), {
        bias,
      })
    }
    const up = multiply(normal, 'up_proj')
    const [linear, gate] = graph.addAll('Split', [up], [true, true], { axis: -1 })
    const open = graph.add('QuickGelu', [gate!], { alpha: { f: 1 } })
    const down = multiply(graph.add('Mul', [open, linear!]), 'down_proj')
    const next = layer + 1 < layers ? weights.gain(layer + 1, 'input_layernorm') : weights.lastGain
    addAndNormalize(down, next)
  }
  matMulPerRow(graph, quantizeRows(graph, normal), head, { output: 'logits' })
  writeLargest(graph)
  const aligned = heads.map(([layer, headIndex]) => {
    return graph.add('Gather', [scores[layer]!, graph.integers(headIndex)], { axis: 1 })
  })
  graph.add('Concat', aligned, { axis: 1 }, 'attention')
  return toModel(graph, inputsOf(weights), outputsOf(weights, heads))
}

/**
 * Writes the largest logit and its probability, which give the probability of each. Softmax has
 * fast kernels, `ReduceLogSumExp` takes ten times as long.
 */
function writeLargest(graph: Graph): void {
  const settings = { axes: [-1], keepdims: 0 }
  graph.add('ReduceMax', ['logits'], settings, 'largest_logit')
  const probabilities = graph.add('Softmax', ['logits'], { axis: -1 })
  graph.add('ReduceMax', [probabilities], settings, 'largest_probability')
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
    describeValue('logits', ['rows', 'tokens', head.bytes.dims[1]!]),
    describeValue('largest_logit', ['rows', 'tokens']),
    describeValue('largest_probability', ['rows', 'tokens']),
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

type Layer = { weights: Weights; layer: number }

function attendToText(
  graph: Graph,
  input: string,
  { weights, layer, rotate }: Layer & { rotate: Rotate },
): string {
  const parts = ['q', 'k', 'v'].map((part) => weights.product(layer, `self_attn/${part}_proj`))
  const joined = joinColumns(parts, `layers.${layer}.self`)
  const all = matMulPerRow(graph, quantizeRows(graph, input), joined)
  const [query, key, value] = graph.addAll('Split', [all], [true, true, true], { axis: -1 })
  const past = ['key', 'value'].map((part) => `past_key_values.${layer}.decoder.${part}`)
  const present = ['key', 'value'].map((part) => `present.${layer}.decoder.${part}`)
  const attended = `layers.${layer}.attended`
  graph.addAs(
    [attended, ...present],
    'MultiHeadAttention',
    [rotate(query!, 'position'), rotate(key!, 'position'), value!, '', '', '', ...past],
    { num_heads: HEADS, unidirectional: 1 },
  )
  return matMulPerRow(
    graph,
    quantizeRows(graph, attended),
    weights.product(layer, 'self_attn/dense'),
  )
}

function attendToAudio(graph: Graph, input: string, { weights, layer }: Layer) {
  const { hidden } = weights
  const product = (part: string) => weights.product(layer, `encoder_attn/${part}`)
  const flat = matMulPerRow(graph, quantizeRows(graph, input), product('q_proj'))
  const query = splitHeads(graph, flat, { hidden })
  const [key, value] = ['key', 'value'].map((part) => `past_key_values.${layer}.encoder.${part}`)
  const similarity = graph.add('FusedMatMul', [query, key!], { transB: 1 })
  const scores = graph.add('Softmax', [graph.add('Add', [similarity, 'encoder_mask'])], {
    axis: -1,
  })
  const attended = graph.add('MatMul', [scores, value!])
  const turned = graph.add('Transpose', [attended], { perm: [0, 2, 1, 3] })
  const joined = graph.add('Reshape', [turned, graph.integers(0, 0, hidden)])
  const output = matMulPerRow(graph, quantizeRows(graph, joined), product('dense'))
  return { scores, output }
}

function splitHeads(
  graph: Graph,
  flat: string,
  { hidden, output }: { hidden: number; output?: string },
): string {
  const split = graph.add('Reshape', [flat, graph.integers(0, 0, HEADS, hidden / HEADS)])
  return graph.add('Transpose', [split], { perm: [0, 2, 1, 3] }, output)
}
