import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  type GraphWriter,
  startGraph,
} from '../../../../src/asr/engines/whisper/graphs/graph-writer.ts'
import { describeValue } from '../../../../src/asr/onnx/onnx-graph.ts'
import { addMetadata } from './add-onnx-metadata.ts'

/** Returns why tests of this engine are skipped; false where its package is installed. */
export function skipWithoutSherpa(): string | false {
  try {
    createRequire(import.meta.url).resolve('sherpa-onnx-node')
    return false
  } catch {
    return 'sherpa-onnx-node is an optional dependency'
  }
}

/**
 * Small networks with the interface of models of sherpa-onnx that recognize tones: each of the
 * first pieces has a frequency, and is written while it sounds.
 */
const tones: readonly (readonly [piece: string, hertz: number])[] = [
  ['▁HEL', 500],
  ['LO', 1000],
  ['▁NEW', 1700],
  ['▁YORK', 2600],
  ['我', 3800],
  ['们', 5400],
]
const BANDS = 80
const EDGE = 320
/** More than any band has over the mean of all in silence, less than one with its tone. */
const BLANK_SCORE = 2

/** Returns tones and silence (undefined), each for some seconds. */
export function audioOf(parts: readonly (readonly [piece: string | undefined, seconds: number])[]) {
  return Float32Array.from(
    parts.flatMap(([piece, seconds]) => {
      const hertz = tones.find(([known]) => known === piece)?.[1] ?? 0
      const length = Math.round(seconds * 16_000)
      return Array.from({ length }, (_, i) => {
        // Without a click at the edges, which has all frequencies.
        const level = 0.3 * Math.min(1, i / EDGE, (length - i) / EDGE)
        return level * Math.sin((2 * Math.PI * hertz * i) / 16_000)
      })
    }),
  )
}

/** The bands of the features: Kaldi's mel scale, from 20 Hz to this frequency. */
type Features = { high: number }
const usual: Features = { high: 7600 }

/** How much each band of the features (rows) speaks for each piece (columns). */
function weightsOf(pieces: readonly string[], { high }: Features, rows = BANDS, first = 0) {
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const weights = new Float32Array(rows * pieces.length)
  for (const [piece, hertz] of tones) {
    const column = pieces.indexOf(piece)
    const at = Math.round(((mel(hertz) - mel(20)) / (mel(high) - mel(20))) * (BANDS + 1)) - 1
    for (let band = 0; band < BANDS; band++) {
      const weight = Math.abs(band - at) <= 1 ? 1 / 3 : 0
      weights[(first + band) * pieces.length + column] = weight - 1 / BANDS
    }
  }
  return weights
}

/** Scores of pieces for each frame: the blank and unknown pieces have fixed ones. */
function biasOf(pieces: readonly string[]): Float32Array {
  const known = tones.map(([piece]) => piece)
  return Float32Array.from(pieces, (piece) => {
    if (piece === '<blk>' || piece === '<blank>') return BLANK_SCORE
    return known.includes(piece) ? 0 : -100
  })
}

function scores(
  graph: GraphWriter,
  input: string,
  pieces: readonly string[],
  weights: Float32Array,
) {
  const size = pieces.length
  const matrix = graph.floats('weights', [weights.length / size, size], weights)
  const bias = graph.floats('bias', [size], biasOf(pieces))
  return graph.node('Add', [graph.node('MatMul', [input, matrix]), bias])
}

function write(file: string, fill: (graph: GraphWriter) => void): void {
  const graph = startGraph(file)
  fill(graph)
  graph.close()
}

function writeTokens(folder: string, pieces: readonly string[]): void {
  writeFileSync(
    join(folder, 'tokens.txt'),
    `${pieces.map((piece, token) => `${piece} ${token}`).join('\n')}\n`,
  )
}

/**
 * SenseVoice: tags for language, emotion and event come first; the language is that of the tones.
 */
export function writeSenseVoice(folder: string): void {
  const tags = ['<|zh|>', '<|en|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>']
  const pieces = ['<blank>', ...tones.map(([piece]) => piece), ...tags]
  const size = pieces.length
  writeTokens(folder, pieces)
  const file = join(folder, 'model.int8.onnx')
  const place = (piece: string) => pieces.indexOf(piece)
  write(file, (graph) => {
    const stacked = 7
    const weights = weightsOf(pieces, { high: 8000 }, BANDS * stacked, BANDS * 3)
    const frames = scores(graph, 'x', pieces, weights)
    const languages = new Float32Array(size * size)
    for (const [piece] of tones) {
      const tag = /\p{Script=Han}/u.test(piece) ? '<|zh|>' : '<|en|>'
      languages[place(piece) * size + place(tag)] = 1
    }
    const loudest = graph.node('ReduceMax', [frames], { axes: [1], keepdims: 1 })
    const languageScores = graph.node('MatMul', [
      loudest,
      graph.floats('languages', [size, size], languages),
    ])
    const first = graph.node('Mul', [
      languageScores,
      graph.floats('many', [1], Float32Array.of(1000)),
    ])
    const fixed = new Float32Array(3 * size)
    for (const [row, tag] of tags.slice(2).entries()) fixed[row * size + place(tag)] = 1000
    const rest = graph.floats('rest', [1, 3, size], fixed)
    const zero = graph.node('Mul', [loudest, graph.floats('nothing', [1], Float32Array.of(0))])
    graph.nodeTo(['logits'], 'Concat', [first, graph.node('Add', [rest, zero]), frames], {
      axis: 1,
    })
    const inputs = ['x_length', 'language', 'text_norm'].map((of) =>
      describeValue(of, ['N'], 'int32'),
    )
    graph.finish(
      [describeValue('x', ['N', 'T', BANDS * stacked]), ...inputs],
      [describeValue('logits', ['N', 'L', size])],
    )
  })
  addMetadata(file, {
    model_type: 'sense_voice_ctc',
    comment: 'stand-in',
    vocab_size: size,
    lfr_window_size: 7,
    lfr_window_shift: 6,
    normalize_samples: 0,
    with_itn: 14,
    without_itn: 15,
    lang_auto: 0,
    lang_zh: 3,
    lang_en: 4,
    lang_ja: 11,
    lang_ko: 12,
    lang_yue: 7,
    neg_mean: new Array(BANDS * 7).fill(0).join(','),
    inv_stddev: new Array(BANDS * 7).fill(1).join(','),
  })
}

/**
 * A CTC model of NeMo, as GigaAM is one. With `breaksAfter`, audio of more seconds ends the process
 * that recognizes it, as a defect in native code does.
 */
export function writeNemoCtc(folder: string, { breaksAfter = 1000 } = {}): void {
  const pieces = [...tones.map(([piece]) => piece), '<blk>']
  writeTokens(folder, pieces)
  const file = join(folder, 'model.onnx')
  write(file, (graph) => {
    const frames = graph.node('Transpose', ['audio_signal'], { perm: [0, 2, 1] })
    const rest = [graph.integers(breaksAfter * 100), graph.integers(1_000_000), graph.integers(1)]
    const late = graph.node('Slice', [frames, ...rest])
    // Nothing has this shape, unless it is empty.
    const nothing = graph.node('Reshape', [late, graph.integers(1, 0, BANDS)], { allowzero: 1 })
    const all = graph.node('Concat', [frames, nothing], { axis: 1 })
    graph.nodeTo(['logprobs'], 'Identity', [
      scores(graph, everyFourth(graph, all), pieces, weightsOf(pieces, { high: 8000 })),
    ])
    graph.finish(
      [describeValue('audio_signal', ['N', BANDS, 'T']), describeValue('length', ['N'], 'int64')],
      [describeValue('logprobs', ['N', 'L', pieces.length])],
    )
  })
  const type = { model_type: 'EncDecCTCModelBPE', normalize_type: 'NA' }
  addMetadata(file, { ...type, vocab_size: pieces.length, subsampling_factor: 4 })
}

/** A Zipformer transducer, for whole pieces or for streams. No piece is written twice in a row. */
export function writeTransducer(folder: string, { isStreaming }: { isStreaming: boolean }): void {
  const pieces = ['<blk>', ...tones.map(([piece]) => piece), '<unk>']
  const size = pieces.length
  writeTokens(folder, pieces)
  const file = (part: string) => join(folder, `${part}-epoch-99-avg-1.onnx`)
  if (isStreaming) writeStreamingEncoder(file('encoder'))
  else {
    write(file('encoder'), (graph) => {
      graph.nodeTo(['encoder_out'], 'Identity', [everyFourth(graph, 'x')])
      const four = graph.integers(4)
      const rounded = graph.node('Add', ['x_lens', graph.integers(3)])
      graph.nodeTo(['encoder_out_lens'], 'Div', [rounded, four])
      graph.finish(
        [describeValue('x', ['N', 'T', BANDS]), describeValue('x_lens', ['N'], 'int64')],
        [
          describeValue('encoder_out', ['N', 'L', BANDS]),
          describeValue('encoder_out_lens', ['N'], 'int64'),
        ],
      )
    })
    addMetadata(file('encoder'), { model_type: 'zipformer2', version: 1 })
  }
  write(file('decoder'), (graph) => {
    const table = new Float32Array(size * size)
    for (let piece = 1; piece < size; piece++) table[piece * size + piece] = -1000
    const last = graph.node('Gather', ['y', graph.integers(1)], { axis: 1 })
    const rows = graph.node('Gather', [graph.floats('table', [size, size], table), last])
    graph.nodeTo(['decoder_out'], 'Squeeze', [rows, graph.integers(1)])
    graph.finish(
      [describeValue('y', ['N', 2], 'int64')],
      [describeValue('decoder_out', ['N', size])],
    )
  })
  addMetadata(file('decoder'), { vocab_size: size, context_size: 2 })
  write(file('joiner'), (graph) => {
    const audioScores = scores(graph, 'encoder_out', pieces, weightsOf(pieces, usual))
    graph.nodeTo(['logit'], 'Add', [audioScores, 'decoder_out'])
    graph.finish(
      [describeValue('encoder_out', ['N', BANDS]), describeValue('decoder_out', ['N', size])],
      [describeValue('logit', ['N', size])],
    )
  })
  addMetadata(file('joiner'), { joiner_dim: BANDS })
}

/** Takes 45 frames at a time, and goes on by 32; of its one layer it only hands on the state. */
function writeStreamingEncoder(file: string): void {
  const sizes = { dim: 16, heads: 2, query: 4, value: 4, kernel: 5, context: 4 }
  const states: [string, (number | string)[]][] = [
    ['key_0', [sizes.context, 'N', sizes.query * sizes.heads]],
    ['nonlin_attn_0', [1, 'N', sizes.context, (3 * sizes.dim) / 4]],
    ['val1_0', [sizes.context, 'N', sizes.value * sizes.heads]],
    ['val2_0', [sizes.context, 'N', sizes.value * sizes.heads]],
    ['conv1_0', ['N', sizes.dim, Math.floor(sizes.kernel / 2)]],
    ['conv2_0', ['N', sizes.dim, Math.floor(sizes.kernel / 2)]],
  ]
  write(file, (graph) => {
    const span = [graph.integers(0), graph.integers(32), graph.integers(1), graph.integers(4)]
    graph.nodeTo(['encoder_out'], 'Slice', ['x', ...span])
    for (const [name] of states)
      graph.nodeTo([`new_cached_${name}`], 'Identity', [`cached_${name}`])
    graph.nodeTo(['new_embed_states'], 'Identity', ['embed_states'])
    graph.nodeTo(['new_processed_lens'], 'Add', ['processed_lens', graph.integers(16)])
    graph.finish(
      [
        describeValue('x', ['N', 45, BANDS]),
        ...states.map(([name, shape]) => describeValue(`cached_${name}`, shape)),
        describeValue('embed_states', ['N', 128, 3, 19]),
        describeValue('processed_lens', ['N'], 'int64'),
      ],
      [
        describeValue('encoder_out', ['N', 8, BANDS]),
        ...states.map(([name, shape]) => describeValue(`new_cached_${name}`, shape)),
        describeValue('new_embed_states', ['N', 128, 3, 19]),
        describeValue('new_processed_lens', ['N'], 'int64'),
      ],
    )
  })
  addMetadata(file, {
    model_type: 'zipformer2',
    T: 45,
    decode_chunk_len: 32,
    encoder_dims: sizes.dim,
    query_head_dims: sizes.query,
    value_head_dims: sizes.value,
    num_heads: sizes.heads,
    num_encoder_layers: 1,
    cnn_module_kernels: sizes.kernel,
    left_context_len: sizes.context,
  })
}

/** Canary: greets in the language that it is told, whatever it hears. */
export function writeCanary(folder: string): void {
  const prompt = [
    ...['<|startofcontext|>', '<|startoftranscript|>', '<|emo:undefined|>', '<|en|>', '<|es|>'],
    ...[
      '<|de|>',
      '<|fr|>',
      '<|pnc|>',
      '<|nopnc|>',
      '<|noitn|>',
      '<|notimestamp|>',
      '<|nodiarize|>',
    ],
  ]
  const pieces = ['<unk>', ...prompt, '▁Hello', '▁Hallo', '▁world', '▁Welt', '<|endoftext|>']
  const size = pieces.length
  writeTokens(folder, pieces)
  const encoder = join(folder, 'encoder.int8.onnx')
  write(encoder, (graph) => {
    graph.nodeTo(['encoder_states'], 'Identity', [everyFourth(graph, 'audio_signal')])
    graph.nodeTo(['lengths'], 'Identity', ['length'])
    graph.nodeTo(['mask'], 'Identity', ['length'])
    graph.finish(
      [describeValue('audio_signal', ['N', 'T', BANDS]), describeValue('length', ['N'], 'int64')],
      [
        describeValue('encoder_states', ['N', 'L', BANDS]),
        ...['lengths', 'mask'].map((of) => describeValue(of, ['N'], 'int64')),
      ],
    )
  })
  addMetadata(encoder, {
    model_type: 'EncDecMultiTaskModel',
    normalize_type: 'per_feature',
    feat_dim: BANDS,
    vocab_size: size,
    subsampling_factor: 8,
    num_decoder_layers: 1,
    decoder_hidden_size: size,
  })
  const place = (piece: string) => pieces.indexOf(piece)
  const next = new Float32Array(size * size)
  const follow = (before: string, after: string, score: number) => {
    next[place(before) * size + place(after)] = score
  }
  for (const word of ['▁Hello', '▁Hallo']) follow('<|nodiarize|>', word, 10)
  for (const word of ['▁world', '▁Welt']) follow('▁Hello', word, 10)
  for (const word of ['▁world', '▁Welt']) follow('▁Hallo', word, 10)
  for (const word of ['▁world', '▁Welt']) follow(word, '<|endoftext|>', 20)
  const wordsOfLanguage = new Float32Array(size * size)
  for (const word of ['▁Hallo', '▁Welt']) wordsOfLanguage[place('<|de|>') * size + place(word)] = 1
  for (const word of ['▁Hello', '▁world']) wordsOfLanguage[place('<|en|>') * size + place(word)] = 1
  write(join(folder, 'decoder.int8.onnx'), (graph) => {
    const token = graph.node('Gather', ['decoder_input_ids', graph.integers(0)], { axis: 1 })
    const unit = Float32Array.from({ length: size * size }, (_, i) =>
      i % (size + 1) === 0 ? 1 : 0,
    )
    const embedded = graph.node('Gather', [graph.floats('unit', [size, size], unit), token])
    graph.nodeTo(['new_mems_0'], 'Concat', ['mems_0', embedded], { axis: 1 })
    const seen = graph.node('ReduceMax', ['new_mems_0'], { axes: [1], keepdims: 1 })
    const after = graph.node('MatMul', [embedded, graph.floats('next', [size, size], next)])
    const language = graph.node('MatMul', [
      seen,
      graph.floats('told', [size, size], wordsOfLanguage),
    ])
    graph.nodeTo(['logits'], 'Add', [after, language])
    graph.finish(
      [
        describeValue('decoder_input_ids', ['N', 2], 'int32'),
        describeValue('mems_0', ['N', 'S', size]),
        describeValue('encoder_states', ['N', 'L', BANDS]),
        describeValue('mask', ['N'], 'int64'),
      ],
      [describeValue('logits', ['N', 1, size]), describeValue('new_mems_0', ['N', 'S2', size])],
    )
  })
}

function everyFourth(graph: GraphWriter, frames: string): string {
  const span = [graph.integers(0), graph.integers(1_000_000), graph.integers(1), graph.integers(4)]
  return graph.node('Slice', [frames, ...span])
}
