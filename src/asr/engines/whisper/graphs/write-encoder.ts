import { describeValue } from '../../../onnx/onnx-graph.ts'
import type { WhisperConfig } from '../whisper-config.ts'
import { type GraphContext, normalized } from './layers.ts'
import { normalizedProducts, rowQuantizedProducts } from './row-quantized-products.ts'

/** The kernel size of both convolutions, in frames; the second one halves the frame rate. */
const KERNEL = 3

/**
 * Writes the encoder of a Whisper model (https://arxiv.org/abs/2212.04356): `features` f32 [1,
 * mels, frames] of log-mel features to `states` f32 [1, positions, hidden], a position per two
 * frames, and to the keys and values of cross-attention in each decoder layer: `key.0`, `value.0` …
 * f32 [1, heads, positions, head size]. Shorter input uses the first positions only.
 */
export async function writeEncoder(context: GraphContext, config: WhisperConfig): Promise<void> {
  const { graph } = context
  const { heads, hidden, mels, encoderLayers, decoderLayers } = config
  const first = graph.node('Gelu', [convolution(context, 'features', 1)])
  const second = graph.node('Gelu', [convolution(context, first, 2)])
  let states = withPositions(
    context,
    graph.node('Transpose', [second], { perm: [0, 2, 1] }),
    config,
  )
  for (let layer = 0; layer < encoderLayers; layer++) {
    const name = `encoder/layer_${layer}`
    states = selfAttention(context, states, `${name}/self_attention`, { heads, hidden })
    states = feedForward(context, states, name)
    await context.layerDone()
  }
  const final = normalized(context, states, 'encoder/layer_norm')
  graph.nodeTo(['states'], 'Identity', [final])
  const outputs = [describeValue('states', [1, 'positions', hidden])]
  const multiply = rowQuantizedProducts(context, final)
  const shape = graph.integers(0, 0, heads, hidden / heads)
  for (let layer = 0; layer < decoderLayers; layer++) {
    for (const [part, name] of ['key', 'value'].entries()) {
      const rows: [number, number] = [part * hidden, (part + 1) * hidden]
      const flat = multiply(`decoder/layer_${layer}/attention/linear_1`, rows)
      const split = graph.node('Reshape', [flat, shape])
      graph.nodeTo([`${name}.${layer}`], 'Transpose', [split], { perm: [0, 2, 1, 3] })
      outputs.push(describeValue(`${name}.${layer}`, [1, heads, 'positions', hidden / heads]))
    }
  }
  graph.finish([describeValue('features', [1, mels, 'frames'])], outputs)
}

function convolution({ graph, weights }: GraphContext, input: string, number: 1 | 2): string {
  const name = `encoder/conv${number}`
  const kernel = graph.floats(
    `${name}/weight`,
    weights.sizes(`${name}/weight`)!,
    weights.read(`${name}/weight`),
  )
  const bias = weights.read(`${name}/bias`)
  return graph.node('Conv', [input, kernel, graph.floats(`${name}/bias`, [bias.length], bias)], {
    kernel_shape: [KERNEL],
    pads: [1, 1],
    strides: [number],
  })
}

function withPositions(
  { graph, weights }: GraphContext,
  input: string,
  { audioPositions, hidden }: WhisperConfig,
): string {
  const all = weights.read('encoder/position_encodings/encodings')
  const positions = graph.floats('positions', [audioPositions, hidden], all)
  const count = graph.node('Shape', [input], { start: 1, end: 2 })
  const used = graph.node('Slice', [positions, graph.integers(0), count, graph.integers(0)])
  return graph.node('Add', [input, used])
}

function selfAttention(
  context: GraphContext,
  input: string,
  name: string,
  { heads, hidden }: Pick<WhisperConfig, 'heads' | 'hidden'>,
): string {
  const parts = [0, 1, 2].map((part) => [part * hidden, (part + 1) * hidden] as const)
  const weights = { norm: `${name}/layer_norm`, name: `${name}/linear_0`, parts }
  const sources = normalizedProducts(context, input, weights)
  const attended = context.graph.node('MultiHeadAttention', sources, { num_heads: heads })
  return context.graph.node('Add', [
    input,
    rowQuantizedProducts(context, attended)(`${name}/linear_1`),
  ])
}

function feedForward(context: GraphContext, input: string, layer: string): string {
  const name = `${layer}/ffn`
  const weights = { norm: `${name}/layer_norm`, name: `${name}/linear_0`, parts: [undefined] }
  const active = context.graph.node('Gelu', normalizedProducts(context, input, weights))
  return context.graph.node('Add', [
    input,
    rowQuantizedProducts(context, active)(`${name}/linear_1`),
  ])
}
