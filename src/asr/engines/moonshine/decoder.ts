import { join } from 'node:path'
import {
  floatsOf,
  integers,
  loadOptimizedModel,
  type OnnxSession,
  type Tensor,
  type Tensors,
} from '../../onnx/onnx-runtime.ts'
import { findRepetition } from '../../recognition/repetition.ts'
import {
  type BiasedText,
  followBias,
  type VocabularyBias,
} from '../../recognition/vocabulary-bias.ts'
import { DecoderBuffers, emptyDecoderCaches, VOCABULARY } from './decoder-buffers.ts'
import type { MoonshineDimensions } from './dimensions.ts'
import { realignDraft } from './draft.ts'
import { loadEncoder } from './encoder.ts'
import {
  encoderMask,
  paddedWidth,
  rowOf,
  selectRows,
  toPastInputs,
  truncateCache,
} from './kv-cache.ts'
import { END_TOKEN, START_TOKEN } from './tokens.ts'

/** The decoder's output for one piece of audio. */
export type MoonshineDecoding = {
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
  decode(pieces: readonly EncodedPiece[], signal: AbortSignal): Promise<MoonshineDecoding[]>
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
  const graphs = { cross, decoder, dimensions, memories: [] }
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
): Promise<MoonshineDecoding[]> {
  const memory = graphs.memories.pop() ?? new DecoderBuffers(graphs.dimensions)
  const decodeRows = async (rows: Row[]) => {
    const batch = await openBatch(graphs, rows, memory)
    // Rows that continue together must have read the same number of tokens.
    if (rows.length === 1) await readDraft(batch, rows[0]!)
    await decodeTogether(batch, signal)
  }
  try {
    const rows = pieces.map((piece) => openRow(graphs, piece))
    if (rows.length > 0) await decodeRows(rows)
    for (const [i, piece] of pieces.entries()) {
      const unbiasedPositions = new Set<number>()
      for (let at = rows[i]!.rewindTo; at !== undefined; at = rows[i]!.rewindTo) {
        unbiasedPositions.add(at)
        const { bias: _, ...alone } = piece.bounds
        const bounds = unbiasedPositions.size > MAX_REWINDS ? alone : piece.bounds
        const draft = rows[i]!.decoding.tokens.slice(0, at)
        rows[i] = openRow(graphs, { ...piece, bounds, draft }, unbiasedPositions)
        await decodeRows([rows[i]])
      }
    }
    return rows.map(({ decoding }) => decoding)
  } finally {
    graphs.memories.push(memory)
  }
}

type Graphs = {
  cross: OnnxSession
  decoder: OnnxSession
  dimensions: MoonshineDimensions
  /** Those that no call of `decode` is using. */
  memories: DecoderBuffers[]
}

/** One piece during decoding. */
type Row = EncodedPiece & {
  decoding: MoonshineDecoding
  open: boolean
  biased: BiasedText | undefined
  /** The token from which the row must be decoded again. */
  rewindTo: number | undefined
}

/** Opens the row of a piece, which has read nothing. */
function openRow(
  { dimensions }: Graphs,
  piece: EncodedPiece,
  unbiasedPositions: ReadonlySet<number> = new Set(),
): Row {
  const { states, bounds } = piece
  const frames = states.length / dimensions.hidden
  const decoding: MoonshineDecoding = {
    tokens: [],
    logProbs: [],
    attention: [],
    frames,
    stopped: 'end',
  }
  const biased = bounds.bias && followBias(bounds.bias, unbiasedPositions)
  return { ...piece, decoding, open: true, biased, rewindTo: undefined }
}

/** Rows that are decoded together and have read the same number of tokens, and what calls need. */
type DecodingBatch = {
  decoder: OnnxSession
  memory: DecoderBuffers
  rows: Row[]
  /** Frames of the longest row, padded. */
  width: number
  /** Inputs of the decoder: the audio with its mask, and the tokens read so far. */
  encoded: Tensors
  caches: Tensors
  /** Tokens of each row that the decoder has read, the start token included. */
  read: number
}

async function openBatch(
  { cross, decoder, dimensions }: Graphs,
  rows: Row[],
  memory: DecoderBuffers,
): Promise<DecodingBatch> {
  const frames = rows.map(({ decoding }) => decoding.frames)
  const width = paddedWidth(Math.max(...frames))
  const outputs = memory.encoderCaches(rows.length, width)
  for (const [i, { states }] of rows.entries()) {
    const encoder_hidden_states = memory.encoderStates(states, width)
    await cross.run({ encoder_hidden_states }, rowOf(outputs, i))
  }
  const encoded = { ...toPastInputs(outputs), encoder_mask: encoderMask(frames, width) }
  const caches = toPastInputs(emptyDecoderCaches(dimensions, rows.length))
  return { decoder, memory, rows, width, encoded, caches, read: 0 }
}

/** Reads further tokens, as many of each row, and returns what the decoder makes of them. */
async function readTokens(
  batch: DecodingBatch,
  tokens: readonly (readonly number[])[],
): Promise<Tensors> {
  const { decoder, memory, rows, width, encoded, caches, read } = batch
  const size = [rows.length, tokens[0]!.length] as const
  const call = { rows: size[0], tokens: size[1], past: read, width }
  const outputs = memory.decoderOutputs(call)
  const position = integers([read], [1])
  const input_ids = integers(tokens.flat(), size)
  await decoder.run({ input_ids, position, ...encoded, ...caches }, outputs)
  batch.caches = toPastInputs(outputs)
  batch.read += size[1]
  return outputs
}

/**
 * Reads the start token and the draft of a single row, a few tokens per call, as far as the model
 * would have written them itself. Where the model writes a different token, the draft resumes after
 * the position where the two agree again (speculative decoding, https://arxiv.org/abs/2211.17192,
 * greedy).
 */
async function readDraft(batch: DecodingBatch, row: Row): Promise<void> {
  const { decoding, draft } = row
  let [at, size] = [0, MAX_DRAFT_TOKENS]
  do {
    const right = await verifyDraft(batch, row, draft.slice(at, at + size))
    // After the accepted tokens, the model has written one of its own.
    const written = decoding.tokens.at(-1) ?? END_TOKEN
    const isRight = written === draft[at + right]
    at = realignDraft(draft, at + right, written)
    size = isRight ? MAX_DRAFT_TOKENS : Math.max(MIN_DRAFT_TOKENS, right)
  } while (row.open && at < draft.length)
}

/**
 * Reads the last token of the row and the drafted next ones in one call, and writes the tokens that
 * follow as long as the draft is right. Returns how many drafted tokens were.
 */
async function verifyDraft(
  batch: DecodingBatch,
  row: Row,
  drafted: readonly number[],
): Promise<number> {
  const { tokens } = row.decoding
  const outputs = await readTokens(batch, [[tokens.at(-1) ?? START_TOKEN, ...drafted]])
  let right = 0
  for (; right <= drafted.length; right++) {
    chooseToken(row, outputs, right)
    if (!row.open || tokens.at(-1) !== drafted[right]) break
  }
  // What was read after a wrong token is forgotten.
  if (row.open && tokens.length < batch.read) {
    batch.read = tokens.length
    batch.caches = truncateCache(batch.caches, batch.read)
  }
  return right
}

/** Continues all rows, one token per call for all of them, until the last has ended. */
async function decodeTogether(batch: DecodingBatch, signal: AbortSignal): Promise<void> {
  while (batch.rows.some(isOpen)) {
    signal.throwIfAborted()
    const { rows } = batch
    const last = rows.map((row) => [row.decoding.tokens.at(-1) ?? START_TOKEN])
    const outputs = await readTokens(batch, last)
    for (const [i, row] of rows.entries()) if (row.open) chooseToken(row, outputs, i)
    // Ended rows stay until half the batch has ended: moving the caches costs about a step.
    const open = rows.filter(isOpen)
    if (open.length <= rows.length / 2) {
      const openRows = rows.flatMap((row, i) => (row.open ? [i] : []))
      batch.encoded = selectRows(batch.encoded, openRows)
      batch.caches = selectRows(batch.caches, openRows)
      batch.rows = open
    }
  }
}

function isOpen(row: Row): boolean {
  return row.open
}

/**
 * Takes the likeliest token of output `i` (row of a batch, or token of a draft) and closes the row
 * when it has ended.
 */
function chooseToken(row: Row, outputs: Tensors, i: number): void {
  const { decoding, bounds } = row
  const logits = floatsOf(outputs.logits).subarray(i * VOCABULARY, i * VOCABULARY + PRINTABLE)
  const likely = likeliestToken(logits, decoding.tokens.length < bounds.minTokens)
  const token = row.biased?.choose(logits, likely) ?? likely
  const largest = floatsOf(outputs.largest_logit)[i]!
  const probability = floatsOf(outputs.largest_probability)[i]!
  // The logarithm of the runtime depends, in its last bit, on how many it takes at once.
  decoding.logProbs.push(logits[token]! - largest + Math.log(probability))
  decoding.attention.push(attentionRow(outputs.attention!, i, decoding.frames))
  row.rewindTo = row.biased?.write(token === END_TOKEN ? 'end' : token, likely)
  if (token === END_TOKEN || row.rewindTo !== undefined) {
    closeRow(row, 'end')
    return
  }
  decoding.tokens.push(token)
  const loop = findRepetition(decoding.tokens)
  if (loop !== undefined) {
    decoding.tokens.length = loop
    decoding.logProbs.length = decoding.attention.length = loop + 1
    closeRow(row, 'loop')
    return
  }
  if (decoding.tokens.length >= bounds.maxTokens) closeRow(row, 'cap')
}

function closeRow(row: Row, stopped: MoonshineDecoding['stopped']): void {
  row.decoding.stopped = stopped
  row.open = false
}

function likeliestToken(logits: Float32Array, forbidEnd: boolean): number {
  let best = forbidEnd ? END_TOKEN + 1 : END_TOKEN
  for (let token = best + 1; token < logits.length; token++) {
    if (logits[token]! > logits[best]!) best = token
  }
  return best
}

/** Returns the attention of all heads for output `i` (row of a batch, or token of a draft). */
function attentionRow(attention: Tensor, i: number, frames: number): Float32Array {
  const [, heads = 0, tokens = 1, width = 0] = attention.dims
  const all = floatsOf(attention)
  const row = new Float32Array(heads * frames)
  const [batch, token] = [Math.floor(i / tokens), i % tokens]
  for (let head = 0; head < heads; head++) {
    const from = ((batch * heads + head) * tokens + token) * width
    row.set(all.subarray(from, from + frames), head * frames)
  }
  return row
}
