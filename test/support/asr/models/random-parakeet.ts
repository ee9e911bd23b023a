import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type GraphWriter,
  startGraph,
} from '../../../../src/asr/engines/whisper/graphs/graph-writer.ts'
import { describeValue } from '../../../../src/asr/onnx/onnx-graph.ts'
import { addMetadata } from './add-onnx-metadata.ts'

/** The pieces of the random network; the blank is the last. */
export const pieces = [
  ...['<unk>', '▁the', '▁a', '▁Hello', '▁wor', 'ld', 's', 't', '▁in', 'ing', ',', '.', '?'],
  ...['▁Ber', 'lin', 'en', '▁cat', '▁new', '▁York', 'er', '<blk>'],
]
const MELS = 128
/** Frames of features in one of the encoder. */
const SUBSAMPLING = 8
const HIDDEN = 16
const LAYERS = 2
const DURATIONS = 5
const VOCABULARY = pieces.length

/** What sherpa-onnx reads from the encoder; without it the library ends the process. */
const metadata = {
  vocab_size: VOCABULARY - 1,
  normalize_type: 'per_feature',
  pred_rnn_layers: LAYERS,
  pred_hidden: HIDDEN,
  subsampling_factor: SUBSAMPLING,
  feat_dim: MELS,
  model_type: 'EncDecRNNTBPEModel',
  version: 2,
  model_author: 'steno',
  url: 'random weights with the interface of parakeet-tdt-0.6b-v3',
  comment: 'stand-in',
}

/**
 * Writes a small network with the inputs and outputs of Parakeet TDT and the same random weights
 * each time: an encoder that tells loud from quiet, a prediction network of two layers, and a
 * joiner.
 * `onnx-asr` has decoder and joiner in one graph, `sherpa` in two.
 */
export function writeRandomNetwork(folder: string, layout: 'onnx-asr' | 'sherpa'): void {
  const random = randomNumbers()
  const weights = {
    encoder: loudness(random(HIDDEN, 1)),
    embedding: random(VOCABULARY * HIDDEN, 3),
    joiner: random(HIDDEN * (VOCABULARY + DURATIONS), 6),
  }
  const list = pieces.map((piece, token) => `${piece} ${token}`).join('\n')
  const name = (part: string) => join(folder, `${part}${layout === 'sherpa' ? '.int8' : ''}.onnx`)
  if (layout === 'sherpa') {
    writeFileSync(join(folder, 'tokens.txt'), `${list}\n`)
    writeEncoder(name('encoder'), weights.encoder)
    write(name('decoder'), (graph) => {
      predict(graph, weights.embedding, ['states.1', 'onnx::LSTM_3'], ['states', '162'])
      graph.nodeTo(['prednet_lengths'], 'Identity', ['target_length'])
      const states = stateValues(['states.1', 'onnx::LSTM_3'])
      const outputs = [
        describeValue('outputs', ['N', HIDDEN, 1]),
        describeValue('prednet_lengths', ['N'], 'int32'),
        ...stateValues(['states', '162']),
      ]
      graph.finish([...targetValues(), ...states], outputs)
    })
    write(name('joiner'), (graph) => {
      joinStates(graph, weights.joiner.slice(), 'decoder_outputs')
      graph.finish(
        ['encoder_outputs', 'decoder_outputs'].map((of) => describeValue(of, ['N', HIDDEN, 1])),
        [scoresValue()],
      )
    })
    return
  }
  writeFileSync(join(folder, 'vocab.txt'), `${list}\n`)
  writeEncoder(name('encoder-model'), weights.encoder)
  write(name('decoder_joint-model'), (graph) => {
    const states = ['input_states_1', 'input_states_2']
    const after = ['output_states_1', 'output_states_2']
    predict(graph, weights.embedding, states, after, 'predicted')
    joinStates(graph, weights.joiner.slice(), 'predicted')
    graph.finish(
      [
        describeValue('encoder_outputs', ['N', HIDDEN, 1]),
        ...targetValues(),
        ...stateValues(states),
      ],
      [scoresValue(), ...stateValues(after)],
    )
  })
}

function writeEncoder(file: string, weights: Float32Array): void {
  write(file, (graph) => {
    const kernel = graph.floats('kernel', [HIDDEN, MELS, SUBSAMPLING], weights)
    const joined = graph.node('Conv', ['audio_signal', kernel], { strides: [SUBSAMPLING] })
    graph.nodeTo(['outputs'], 'Tanh', [joined])
    graph.nodeTo(['encoded_lengths'], 'Div', ['length', graph.integers(SUBSAMPLING)])
    graph.finish(
      [describeValue('audio_signal', ['N', MELS, 'T']), describeValue('length', ['N'], 'int64')],
      [
        describeValue('outputs', ['N', HIDDEN, 'F']),
        describeValue('encoded_lengths', ['N'], 'int64'),
      ],
    )
  })
  addMetadata(file, metadata)
}

/** Half of the state before, and the last token; the second state is the sum of both. */
function predict(
  graph: GraphWriter,
  embedding: Float32Array,
  before: readonly string[],
  after: readonly string[],
  output = 'outputs',
): void {
  const table = graph.floats('embedding', [VOCABULARY, HIDDEN], embedding)
  const half = graph.floats('half', [1], Float32Array.of(0.5))
  const rows = graph.node('Gather', [table, 'targets'])
  const token = graph.node('Transpose', [rows], { perm: [1, 0, 2] })
  const faded = before.map((state) => graph.node('Mul', [state, half]))
  graph.nodeTo([after[0]!], 'Tanh', [graph.node('Add', [faded[0]!, token])])
  graph.nodeTo([after[1]!], 'Add', [faded[1]!, after[0]!])
  const first = graph.node('Gather', [after[1]!, graph.integers(0)], { axis: 0 })
  graph.nodeTo([output], 'Transpose', [first], { perm: [1, 2, 0] })
}

function joinStates(graph: GraphWriter, weights: Float32Array, text: string): void {
  const sum = graph.node('Tanh', [graph.node('Add', ['encoder_outputs', text])])
  const row = graph.node('Transpose', [sum], { perm: [0, 2, 1] })
  // Rarely stays in a frame: sherpa-onnx allows five tokens there, NeMo and we ten.
  for (let i = VOCABULARY; i < weights.length; i += VOCABULARY + DURATIONS) weights[i]! *= 0.4
  const matrix = graph.floats('joiner', [HIDDEN, VOCABULARY + DURATIONS], weights)
  const scores = graph.node('MatMul', [row, matrix])
  graph.nodeTo(['outputs'], 'Unsqueeze', [scores, graph.integers(1)])
}

function targetValues() {
  return [
    describeValue('targets', ['N', 1], 'int32'),
    describeValue('target_length', ['N'], 'int32'),
  ]
}

function stateValues(names: readonly string[]) {
  return names.map((name) => describeValue(name, [LAYERS, 'N', HIDDEN]))
}

function scoresValue() {
  return describeValue('outputs', ['N', 1, 1, VOCABULARY + DURATIONS])
}

function write(file: string, fill: (graph: GraphWriter) => void): void {
  const graph = startGraph(file)
  fill(graph)
  graph.close()
}

/**
 * Weights that tell loud frames from quiet ones, and nothing else: other programs compute slightly
 * other features, and the first token that differs would change all that follow.
 */
function loudness(signs: Float32Array): Float32Array {
  const size = MELS * SUBSAMPLING
  return Float32Array.from({ length: signs.length * size }, (_, i) => {
    return (40 * Math.sign(signs[Math.floor(i / size)]!)) / size
  })
}

/** The same numbers around 0 each time. */
function randomNumbers(): (count: number, spread: number) => Float32Array {
  let state = 4711
  return (count, spread) =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state / 0x7fffffff - 0.5) * spread
    })
}
