import type { OnnxGraph, OnnxModel, OnnxTensor } from '../../onnx/onnx.ts'
import { describeValue, floatTensor, type Graph, newGraph, toModel } from '../../onnx/onnx-graph.ts'

/** Samples of a step of the spectrum; each of its windows takes two steps. */
const STEP = 128
/** Steps per frame: the samples before it, the frame itself, and its end mirrored. */
const STEPS = 5
/** Windows per frame, and the frequencies of each. */
const WINDOWS = STEPS - 1
const FREQUENCIES = STEP + 1
const HIDDEN = 128
/**
 * The gates in the order of the LSTM operator, as indexes in the published order (input, forget,
 * cell, output).
 */
const GATES = [0, 3, 1, 2]

/**
 * Rewrites Silero VAD with the weights of `published`, for 16 kHz: all frames of a call go
 * through the layers before the recurrent one together. The published graph takes one frame per
 * call, in 40 small operations.
 *
 * `frames` f32 [frames, 5, 128] (see `vad.ts`), `hidden` and `cell` f32 [1, 1, 128] →
 * `probabilities` f32 [frames, 1], `next_hidden` and `next_cell` as `hidden` and `cell`.
 */
export function writeVoiceDetector(published: OnnxModel): OnnxModel {
  const weights = readWeights(published.graph)
  const graph = newGraph('voice-detector')
  const spectra = writeSpectra(graph, weights('stft.forward_basis_buffer'))
  const layer = (rows: string, name: string, taps: readonly number[]) => {
    const matrix = graph.constant(kernel(weights(`encoder.${name}.reparam_conv.weight`), taps))
    const bias = graph.constant(weights(`encoder.${name}.reparam_conv.bias`))
    return graph.add('Relu', [graph.add('Add', [graph.add('MatMul', [rows, matrix]), bias])])
  }
  // A frame has 4, 4, 2 and 1 rows. In the last two layers, some taps of the kernel only read
  // padding and are left out.
  const first = layer(unfold(graph, pad(graph, spectra), 1), '0', [0, 1, 2])
  const second = layer(unfold(graph, pad(graph, first), 2), '1', [0, 1, 2])
  const pairs = graph.add('Reshape', [second, graph.integers(-1, 1, 2 * 64)])
  const third = layer(pairs, '2', [1, 2])
  const features = layer(third, '3', [1])
  const names = ['hidden.all', 'next_hidden', 'next_cell']
  const inputs = [features, ...recurrentWeights(weights, graph), '', 'hidden', 'cell']
  graph.addAs(names, 'LSTM', inputs, { hidden_size: HIDDEN })
  const flat = graph.add('Reshape', ['hidden.all', graph.integers(-1, HIDDEN)])
  const last = graph.constant(kernel(weights('decoder.decoder.2.weight'), [0]))
  const product = graph.add('MatMul', [graph.add('Relu', [flat]), last])
  const bias = graph.constant(weights('decoder.decoder.2.bias'))
  graph.add('Sigmoid', [graph.add('Add', [product, bias])], {}, 'probabilities')
  const state = (name: string) => describeValue(name, [1, 1, HIDDEN])
  const frames = describeValue('frames', ['frames', STEPS, STEP])
  return toModel(
    graph,
    [frames, state('hidden'), state('cell')],
    [describeValue('probabilities', ['frames', 1]), state('next_hidden'), state('next_cell')],
  )
}

type Weights = (name: string) => OnnxTensor

/** Finds the weights for 16 kHz, in the graph or in the branch that it takes at this rate. */
function readWeights(graph: OnnxGraph): Weights {
  const branches = graph.node.flatMap(({ attribute }) => attribute.flatMap(({ g }) => g ?? []))
  const tensors = [graph, ...branches].flatMap(({ initializer }) => initializer)
  return (name) => {
    const weight = tensors.find((tensor) => tensor.name === `model.${name}`)
    if (!weight) throw new TypeError(`the voice detector has another form: ${name}`)
    return weight
  }
}

/** Writes the magnitudes of the spectra: f32 [frames, 4, 129]. */
function writeSpectra(graph: Graph, basis: OnnxTensor): string {
  const slice = (input: string, from: number, to: number, axis: number) => {
    const bounds = [from, to, axis].map((number) => graph.integers(number))
    return graph.add('Slice', [input, ...bounds])
  }
  const halves = [slice('frames', 0, WINDOWS, 1), slice('frames', 1, STEPS, 1)]
  const windows = graph.add('Concat', halves, { axis: 2 })
  const both = graph.add('MatMul', [windows, graph.constant(kernel(basis, [0], 2 * STEP))])
  const squares = graph.add('Mul', [both, both])
  const real = slice(squares, 0, FREQUENCIES, 2)
  const imaginary = slice(squares, FREQUENCIES, 2 * FREQUENCIES, 2)
  return graph.add('Sqrt', [graph.add('Add', [real, imaginary])])
}

/** Writes rows of zeros before the first and after the last row of each frame. */
function pad(graph: Graph, rows: string): string {
  return graph.add('Pad', [rows, graph.integers(0, 1, 0, 0, 1, 0)])
}

/** Writes the rows that a convolution of width 3 multiplies, every `stride` rows of each frame. */
function unfold(graph: Graph, rows: string, stride: number): string {
  const parts = [0, 1, 2].map((i) => {
    const bounds = [i, WINDOWS + i, 1, stride].map((number) => graph.integers(number))
    return graph.add('Slice', [rows, ...bounds])
  })
  return graph.add('Concat', parts, { axis: 2 })
}

/**
 * Returns some taps of the kernel [outer, channels, width] of a convolution as the matrix [taps *
 * channels, outer] of unfolded rows. `channels` may stand in the last dimension.
 */
function kernel(tensor: OnnxTensor, taps: readonly number[], inner?: number): OnnxTensor {
  const [outer = 0, second = 0, third = 0] = tensor.dims
  const [channels, width] = inner ? [inner, 1] : [second, third]
  const floats = floatsIn(tensor)
  const matrix = new Float32Array(taps.length * channels * outer)
  for (let o = 0; o < outer; o++) {
    for (const [i, tap] of taps.entries()) {
      for (let channel = 0; channel < channels; channel++) {
        matrix[(i * channels + channel) * outer + o] =
          floats[(o * channels + channel) * width + tap]!
      }
    }
  }
  return floatTensor(`${tensor.name}.matrix`, matrix, [taps.length * channels, outer])
}

/** The weights and biases of the LSTM as constants, with the gates in the operator's order. */
function recurrentWeights(weights: Weights, graph: Graph): string[] {
  const gates = (name: string) => {
    const floats = floatsIn(weights(`decoder.rnn.${name}`))
    const size = floats.length / GATES.length
    return GATES.flatMap((gate) => [...floats.subarray(gate * size, (gate + 1) * size)])
  }
  const matrix = (name: string) => {
    return floatTensor(`rnn.${name}`, gates(name), [1, GATES.length * HIDDEN, HIDDEN])
  }
  const biases = [...gates('bias_ih'), ...gates('bias_hh')]
  const bias = floatTensor('rnn.bias', biases, [1, biases.length])
  return [matrix('weight_ih'), matrix('weight_hh'), bias].map((tensor) => graph.constant(tensor))
}

function floatsIn({ raw_data, float_data }: OnnxTensor): Float32Array {
  if (float_data && float_data.length > 0) return Float32Array.from(float_data)
  return new Float32Array(new Uint8Array(raw_data).buffer)
}
