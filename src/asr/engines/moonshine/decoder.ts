import { join } from 'node:path'
import {
  floats,
  floatsOf,
  integers,
  loadOptimizedModel,
  pickRows,
  type Session,
  type Tensors,
} from '../../onnx/onnx-runtime.ts'
import { findRepetition } from '../../recognition/repetition.ts'
import {
  type BiasedText,
  followBias,
  type VocabularyBias,
} from '../../recognition/vocabulary-bias.ts'
import {
  asPast,
  emptyDecoderCaches,
  encoderMask,
  paddedWidth,
  stackDecoderCaches,
  stackEncoderCaches,
} from './caches.ts'
import type { MoonshineDimensions } from './dimensions.ts'
import { resumeDraft } from './draft.ts'
import { loadEncoder } from './encoder.ts'
import { END_TOKEN, START_TOKEN } from './tokens.ts'

/** The decoder's output for one piece of audio. */
export type Decoding = {
  tokens: number[]
  /** Natural logarithm of each token's probability, including the end token's. */
  logProbs: number[]
  /**
   * One row per token, including the end token: attention of each alignment head over the frames.
   */
  attention: Float32Array[]
  /** 24 ms frames of the piece. */
  frames: number
  /**
   * Why the decoder stopped: the model ended the text, the text grew too long for the audio, or it
   * looped.
   */
  stopped: 'end' | 'cap' | 'loop'
}

/**
 * Bounds of one piece: `maxTokens` is the cap, `minTokens` forbids an earlier end; `bias` prefers
 * words.
 */
export type DecodeBounds = { maxTokens: number; minTokens: number; bias?: VocabularyBias }

/** An encoded piece to decode, and a draft of its text, which may be empty. */
export type EncodedPiece = {
  states: Float32Array
  bounds: DecodeBounds
  draft: readonly number[]
}

const VOCABULARY = 32_768
/** Tokens that are never text (32000 and up) are excluded from the choice. */
const PRINTABLE = 32_000
/** The three loaded graphs of a model. */
export type MoonshineDecoder = {
  /**
   * Encodes `audio` (16 kHz, -1 to 1) and returns one 24 ms frame of `hidden` floats per 384
   * samples.
   */
  encode(audio: Float32Array): Promise<Float32Array>
  /**
   * Decodes several encoded pieces at once; the pieces do not affect each other. Of a single piece,
   * reads several tokens of the draft per call and keeps those that the model would have written
   * itself: the text is the same at less cost.
   */
  decode(pieces: readonly EncodedPiece[], signal: AbortSignal): Promise<Decoding[]>
  close(): Promise<void>
}

/** Loads the three graphs of `folder` (see `asr/models/write-moonshine-*.ts`). */
export async function loadMoonshine(
  folder: string,
  dimensions: MoonshineDimensions,
): Promise<MoonshineDecoder> {
  const encoder = await loadEncoder(join(folder, 'encoder.onnx'))
  const cross = await loadOptimizedModel(join(folder, 'cross.onnx'))
  const decoder = await loadOptimizedModel(join(folder, 'decoder.onnx'))
  const graphs = { cross, decoder, dimensions }
  return {
    encode: encoder.encode,
    decode: (pieces, signal) => decodeAll(graphs, pieces, signal),
    async close() {
      await Promise.all([encoder.close(), cross.release(), decoder.release()])
    },
  }
}

/**
 * Tokens of a draft that one call verifies, fewer after a wrong one: each costs an eighth of a call
 * for a single token.
 */
const MAX_DRAFT_TOKENS = 8
const MIN_DRAFT_TOKENS = 3
/** After this many rewinds of one piece, it is decoded without the list of words. */
const MAX_REWINDS = 6

/**
 * Decodes all pieces together. A piece that began a listed word and did not complete it is decoded
 * again from there, alone.
 */
async function decodeAll(
  graphs: Graphs,
  pieces: readonly EncodedPiece[],
  signal: AbortSignal,
): Promise<Decoding[]> {
  const rows: Row[] = []
  for (const piece of pieces) {
    const encoded = await readEncoded(graphs, piece.states)
    const row = openRow(graphs, encoded, piece)
    // Rows that continue together must have read the same number of tokens.
    if (pieces.length === 1) await readDraft(graphs, row, piece.draft)
    rows.push(row)
  }
  await decodeTogether(graphs, rows.filter(isOpen), signal)
  for (const [i, piece] of pieces.entries()) {
    const barred = new Set<number>()
    for (let at = rows[i]!.rewindTo; at !== undefined; at = rows[i]!.rewindTo) {
      barred.add(at)
      const { bias: _, ...alone } = piece.bounds
      const bounds = barred.size > MAX_REWINDS ? alone : piece.bounds
      const draft = rows[i]!.decoding.tokens.slice(0, at)
      rows[i] = openRow(graphs, rows[i]!.encoded, { ...piece, bounds }, barred)
      await readDraft(graphs, rows[i], draft)
      await decodeTogether(graphs, [rows[i]].filter(isOpen), signal)
    }
  }
  return rows.map(({ decoding }) => decoding)
}

type Graphs = { cross: Session; decoder: Session; dimensions: MoonshineDimensions }

/** The keys and values of a piece's audio, as inputs of the decoder. */
async function readEncoded({ cross, dimensions }: Graphs, states: Float32Array): Promise<Tensors> {
  const { hidden } = dimensions
  const width = paddedWidth(states.length / hidden)
  const padded = new Float32Array(width * hidden)
  padded.set(states)
  return asPast(await cross.run({ encoder_hidden_states: floats(padded, [1, width, hidden]) }))
}

/** One piece during decoding. `encoded` and `caches` are inputs of the decoder, for one row. */
type Row = {
  decoding: Decoding
  bounds: DecodeBounds
  encoded: Tensors
  caches: Tensors
  open: boolean
  biased: BiasedText | undefined
  /** The token from which the row must be decoded again. */
  rewindTo: number | undefined
}

function isOpen(row: Row): boolean {
  return row.open
}

/** Opens the row of a piece, which has read nothing. */
function openRow(
  { dimensions }: Graphs,
  encoded: Tensors,
  { states, bounds }: Pick<EncodedPiece, 'states' | 'bounds'>,
  barred: ReadonlySet<number> = new Set(),
): Row {
  const frames = states.length / dimensions.hidden
  const decoding: Decoding = { tokens: [], logProbs: [], attention: [], frames, stopped: 'end' }
  const biased = bounds.bias && followBias(bounds.bias, barred)
  const state = { open: true, biased, rewindTo: undefined }
  return { decoding, bounds, encoded, caches: emptyDecoderCaches(dimensions), ...state }
}

/**
 * Reads the start token and the draft, a few tokens per call, as far as the model would have
 * written them itself. Where it writes another token, the draft goes on behind the place where it
 * says the same (speculative decoding, https://arxiv.org/abs/2211.17192, greedy).
 */
async function readDraft(graphs: Graphs, row: Row, draft: readonly number[]): Promise<void> {
  const { decoding } = row
  let [at, size] = [0, MAX_DRAFT_TOKENS]
  do {
    const right = await verifyDraft(graphs, row, draft.slice(at, at + size))
    // After the accepted tokens, the model has written one of its own.
    const own = decoding.tokens.at(-1) ?? END_TOKEN
    const isRight = own === draft[at + right]
    at = resumeDraft(draft, at + right, own)
    size = isRight ? MAX_DRAFT_TOKENS : Math.max(MIN_DRAFT_TOKENS, right)
  } while (row.open && at < draft.length)
}

/**
 * Reads the last token of the row and the drafted next ones in one call, and writes the tokens that
 * follow as long as the draft is right. Returns how many drafted tokens were.
 */
async function verifyDraft(
  { decoder, dimensions }: Graphs,
  row: Row,
  drafted: readonly number[],
): Promise<number> {
  const { decoding, encoded } = row
  const width = paddedWidth(decoding.frames)
  const position = decoding.tokens.length
  const read = [decoding.tokens.at(-1) ?? START_TOKEN, ...drafted]
  const outputs = await decoder.run({
    input_ids: integers(read, [1, read.length]),
    position: integers([position], [1]),
    encoder_mask: encoderMask([row], width),
    ...encoded,
    ...stackDecoderCaches([row], dimensions),
  })
  row.caches = asPast(outputs)
  const size = { width, heads: dimensions.alignmentHeads, tokens: read.length }
  for (let i = 0; i < read.length; i++) {
    choose(row, outputs, i, size)
    if (!row.open || decoding.tokens.at(-1) !== drafted[i]) return i
  }
  return drafted.length
}

/** Continues all rows, one token per call for all of them, until the last has ended. */
async function decodeTogether(
  { decoder, dimensions }: Graphs,
  all: Row[],
  signal: AbortSignal,
): Promise<void> {
  let rows = all
  if (rows.length === 0) return
  const width = paddedWidth(Math.max(...rows.map((row) => row.decoding.frames)))
  let fixed = stackEncoderCaches(rows, dimensions, width)
  let caches = stackDecoderCaches(rows, dimensions)
  let position = rows[0]!.decoding.tokens.length
  while (rows.length > 0) {
    signal.throwIfAborted()
    const last = rows.map((row) => row.decoding.tokens.at(-1) ?? START_TOKEN)
    const outputs = await decoder.run({
      ...fixed,
      ...caches,
      input_ids: integers(last, [rows.length, 1]),
      position: integers([position++], [1]),
    })
    for (const [i, row] of rows.entries()) {
      if (row.open) choose(row, outputs, i, { width, heads: dimensions.alignmentHeads, tokens: 1 })
    }
    caches = asPast(outputs)
    // Ended rows stay until half the batch has ended: copying the caches costs about a step.
    const open = rows.filter(isOpen)
    if (open.length <= rows.length / 2) {
      const kept = rows.flatMap((row, i) => (row.open ? [i] : []))
      fixed = pickRows(fixed, kept)
      caches = pickRows(caches, kept)
      rows = open
    }
  }
}

/**
 * Takes the likeliest token of output `i` (row of a batch, or token of a draft) and closes the row
 * when it has ended.
 */
function choose(row: Row, outputs: Tensors, i: number, size: AttentionSize): void {
  const { decoding, bounds } = row
  const logits = floatsOf(outputs.logits).subarray(i * VOCABULARY, i * VOCABULARY + PRINTABLE)
  const own = likeliest(logits, decoding.tokens.length < bounds.minTokens)
  const token = row.biased?.choose(logits, own) ?? own
  const largest = floatsOf(outputs.largest_logit)[i]!
  const probability = floatsOf(outputs.largest_probability)[i]!
  // The logarithm of the runtime depends, in its last bit, on how many it takes at once.
  decoding.logProbs.push(logits[token]! - largest + Math.log(probability))
  decoding.attention.push(attentionRow(floatsOf(outputs.attention), i, size, decoding.frames))
  row.rewindTo = row.biased?.write(token === END_TOKEN ? 'end' : token, own)
  if (token === END_TOKEN || row.rewindTo !== undefined) {
    close(row, 'end')
    return
  }
  decoding.tokens.push(token)
  const loop = findRepetition(decoding.tokens)
  if (loop !== undefined) {
    decoding.tokens.length = loop
    decoding.logProbs.length = decoding.attention.length = loop + 1
    close(row, 'loop')
    return
  }
  if (decoding.tokens.length >= bounds.maxTokens) close(row, 'cap')
}

function close(row: Row, stopped: Decoding['stopped']): void {
  row.decoding.stopped = stopped
  row.open = false
  row.caches = {}
}

function likeliest(logits: Float32Array, forbidEnd: boolean): number {
  let best = forbidEnd ? END_TOKEN + 1 : END_TOKEN
  for (let token = best + 1; token < logits.length; token++) {
    if (logits[token]! > logits[best]!) best = token
  }
  return best
}

/**
 * The width of the rows of an attention output, and the number of tokens in each row of its batch.
 */
type AttentionSize = { width: number; heads: number; tokens: number }

function attentionRow(
  attention: Float32Array,
  i: number,
  { width, heads, tokens }: AttentionSize,
  frames: number,
): Float32Array {
  const row = new Float32Array(heads * frames)
  const [batch, token] = [Math.floor(i / tokens), i % tokens]
  for (let head = 0; head < heads; head++) {
    const from = ((batch * heads + head) * tokens + token) * width
    row.set(attention.subarray(from, from + frames), head * frames)
  }
  return row
}
