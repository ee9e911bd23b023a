import type { OnnxValue } from '../../../onnx/onnx.ts'
import { describeValue } from '../../../onnx/onnx-graph.ts'
import type { WhisperConfig } from '../whisper-config.ts'
import {
  blockConstants,
  blockProduct,
  blockRows,
  type GraphContext,
  normalized,
  product,
} from './layers.ts'

const EMBEDDING = 'decoder/embeddings/weight'
const HEADS_AXIS = 1

/**
 * Writes the decoder of a Whisper model, one graph for the first and every further call. Inputs:
 * - `tokens` i64 [rows, tokens], `positions` i64 [tokens]: where they are in the text;
 * - `selected` i64 [selected]: of which tokens the logits are wanted;
 * - `mask` f32 [1, 1, tokens, past + tokens]: added to the scores of self-attention;
 * - `cross_mask` f32 [rows, 1, 1, frames]: added to those of cross-attention;
 * - `past.key.0`, `past.value.0` … f32 [rows, heads, past, head size]: the cache;
 * - `cross.key.0`, `cross.value.0` … f32 [rows, heads, frames, head size]: the encoder's outputs.
 * Outputs: `logits` f32 [rows, selected, vocabulary], `attention` f32 [rows, alignment heads,
 * tokens, frames] after softmax, `key.0`, `value.0` …: the cache with the new tokens.
 */
export async function writeDecoder(context: GraphContext, config: WhisperConfig): Promise<void> {
  const { graph, weights } = context
  const { hidden, decoderLayers, textPositions, heads, alignmentHeads } = config
  const embedding = writeEmbedding(context, config)
  const places = graph.floats(
    'places',
    [textPositions, hidden],
    weights.read('decoder/position_encodings/encodings'),
  )
  let states = graph.node('Add', [embedding.rows, graph.node('Gather', [places, 'positions'])])
  const aligned: string[] = []
  for (let layer = 0; layer < decoderLayers; layer++) {
    const name = `decoder/layer_${layer}`
    const layerHeads = alignmentHeads.flatMap(([from, head]) => (from === layer ? [head] : []))
    states = selfAttention(context, states, { name: `${name}/self_attention`, layer, config })
    const cross = crossAttention(context, states, { name: `${name}/attention`, layer, config })
    if (layerHeads.length > 0) {
      aligned.push(
        graph.node('Gather', [cross.weights, graph.integers(...layerHeads)], { axis: HEADS_AXIS }),
      )
    }
    states = feedForward(context, cross.states, name)
    await context.layerDone()
  }
  reorder(context, aligned, alignmentHeads)
  const chosen = graph.node('Gather', [states, 'selected'], { axis: 1 })
  embedding.logits(normalized(context, chosen, 'decoder/layer_norm'))
  const cache = (prefix: string, length: string): OnnxValue[] => {
    return Array.from({ length: decoderLayers }, (_, layer) => {
      const dims = ['rows', heads, length, hidden / heads]
      return ['key', 'value'].map((part) => describeValue(`${prefix}${part}.${layer}`, dims))
    }).flat()
  }
  graph.finish(
    [
      describeValue('tokens', ['rows', 'tokens'], 'int64'),
      describeValue('positions', ['tokens'], 'int64'),
      describeValue('selected', ['selected'], 'int64'),
      describeValue('mask', [1, 1, 'tokens', 'all']),
      describeValue('cross_mask', ['rows', 1, 1, 'frames']),
      ...cache('past.', 'past'),
      ...cache('cross.', 'frames'),
    ],
    [
      describeValue('logits', ['rows', 'selected', config.vocabulary]),
      describeValue('attention', ['rows', alignmentHeads.length, 'tokens', 'frames']),
      ...cache('', 'all'),
    ],
  )
}

/** Writes the embedding once for both of its uses: the first states and the logits. */
function writeEmbedding(
  { graph, weights, precision }: GraphContext,
  { hidden, vocabulary }: WhisperConfig,
): { rows: string; logits(states: string): void } {
  const matrix = weights.read(EMBEDDING)
  const size = { outputs: vocabulary, inputs: hidden }
  if (precision === 'fp32') {
    const table = graph.floats(EMBEDDING, [vocabulary, hidden], matrix)
    return {
      rows: graph.node('Gather', [table, 'tokens']),
      logits(states) {
        const turned = graph.node('Transpose', [table], { perm: [1, 0] })
        graph.nodeTo(['logits'], 'MatMul', [states, turned])
      },
    }
  }
  const { blocks, scales } = blockConstants(graph, EMBEDDING, matrix, size)
  return {
    rows: blockRows(graph, 'tokens', { blocks, scales, hidden }),
    logits(states) {
      graph.nodeTo(['logits'], 'Identity', [blockProduct(graph, [states, blocks, scales], size)])
    },
  }
}

type Attention = { name: string; layer: number; config: WhisperConfig }

function selfAttention(context: GraphContext, input: string, attention: Attention): string {
  const { name, layer, config } = attention
  const { graph } = context
  const normal = normalized(context, input, `${name}/layer_norm`)
  const parts = [0, 1, 2].map((part) => {
    const rows: [number, number] = [part * config.hidden, (part + 1) * config.hidden]
    const flat = product(context, normal, `${name}/linear_0`, {
      rows,
      ...(part === 0 ? queryFactor(config) : {}),
    })
    return splitHeads(context, flat, config)
  })
  const [query, key, value] = parts as [string, string, string]
  graph.nodeTo([`key.${layer}`], 'Concat', [`past.key.${layer}`, key], { axis: 2 })
  graph.nodeTo([`value.${layer}`], 'Concat', [`past.value.${layer}`, value], { axis: 2 })
  const { attended } = attend(context, [query, `key.${layer}`, `value.${layer}`], 'mask')
  return graph.node('Add', [
    input,
    product(context, joinHeads(context, attended, config), `${name}/linear_1`),
  ])
}

function crossAttention(
  context: GraphContext,
  input: string,
  { name, layer, config }: Attention,
): { states: string; weights: string } {
  const normal = normalized(context, input, `${name}/layer_norm`)
  const flat = product(context, normal, `${name}/linear_0`, queryFactor(config))
  const query = splitHeads(context, flat, config)
  const sources = [query, `cross.key.${layer}`, `cross.value.${layer}`] as const
  const { attended, weights } = attend(context, sources, 'cross_mask')
  const output = product(context, joinHeads(context, attended, config), `${name}/linear_2`)
  return { states: context.graph.node('Add', [input, output]), weights }
}

/**
 * Returns the scale of the queries, 1 / √(head size); it is 1/8 for heads of 64, so scaling is
 * exact.
 */
function queryFactor({ hidden, heads }: WhisperConfig): { factor: number } {
  return { factor: (hidden / heads) ** -0.5 }
}

function attend(
  { graph }: GraphContext,
  [query, key, value]: readonly [string, string, string],
  mask: string,
): { attended: string; weights: string } {
  const turned = graph.node('Transpose', [key], { perm: [0, 1, 3, 2] })
  const scores = graph.node('Add', [graph.node('MatMul', [query, turned]), mask])
  const weights = graph.node('Softmax', [scores], { axis: -1 })
  return { attended: graph.node('MatMul', [weights, value]), weights }
}

function splitHeads(
  { graph }: GraphContext,
  flat: string,
  { heads, hidden }: WhisperConfig,
): string {
  const split = graph.node('Reshape', [flat, graph.integers(0, 0, heads, hidden / heads)])
  return graph.node('Transpose', [split], { perm: [0, 2, 1, 3] })
}

function joinHeads({ graph }: GraphContext, split: string, { hidden }: WhisperConfig): string {
  const turned = graph.node('Transpose', [split], { perm: [0, 2, 1, 3] })
  return graph.node('Reshape', [turned, graph.integers(0, 0, hidden)])
}

/**
 * Writes the output `attention`: puts the heads, which are computed layer by layer, in the order of
 * the config.
 */
function reorder(
  { graph }: GraphContext,
  aligned: readonly string[],
  heads: WhisperConfig['alignmentHeads'],
): void {
  const byLayer = [...heads.keys()].sort((a, b) => heads[a]![0] - heads[b]![0] || a - b)
  const order = heads.map((_, i) => byLayer.indexOf(i))
  const all = graph.node('Concat', aligned, { axis: HEADS_AXIS })
  graph.nodeTo(['attention'], 'Gather', [all, graph.integers(...order)], { axis: HEADS_AXIS })
}

function feedForward(context: GraphContext, input: string, layer: string): string {
  const inner = product(
    context,
    normalized(context, input, `${layer}/ffn/layer_norm`),
    `${layer}/ffn/linear_0`,
  )
  const active = context.graph.node('Gelu', [inner])
  return context.graph.node('Add', [input, product(context, active, `${layer}/ffn/linear_1`)])
}
