import { floatsOf, type Tensors } from '../../../onnx/onnx-runtime.ts'
import { findRepetition } from '../../../recognition/decoding/repetition.ts'
import {
  type BiasedText,
  followBias,
  type VocabularyBias,
} from '../../../recognition/decoding/vocabulary-bias.ts'
import { END_TOKEN, englishTokens, START_TOKEN } from '../tokens.ts'
import {
  attentionRow,
  type DecoderGraphs,
  type DecodingBatch,
  logSum,
  type MoonshineDecoding,
  prepareBatch,
  stepDecoder,
} from './batch.ts'
import { DecoderBuffers, PRINTABLE, VOCABULARY } from './decoder-buffers.ts'
import { realignDraft } from './draft.ts'
import { selectRows, truncateCache } from './kv-cache.ts'

/**
 * Bounds of one segment: `maxTokens` is the cap, `minTokens` forbids an earlier end; `bias` prefers
 * words.
 */
export type DecodeBounds = { maxTokens: number; minTokens: number; bias?: VocabularyBias }

/** An encoded segment to decode, and a draft of its text, which may be empty. */
export type EncodedSegment = {
  states: Float32Array
  bounds: DecodeBounds
  draft: readonly number[]
}

/**
 * Tokens of a draft that one call verifies, fewer after a wrong one: each costs an eighth of a call
 * for a single token.
 */
const MAX_DRAFT_TOKENS = 8
const MIN_DRAFT_TOKENS = 3
/** After this many rewinds, a segment is decoded without the vocabulary. */
const MAX_REWINDS = 6

/**
 * Decodes all segments together. A segment that began a vocabulary word and did not complete it is
 * decoded again from that token, alone.
 */
export async function decodeGreedily(
  graphs: DecoderGraphs,
  segments: readonly EncodedSegment[],
  signal: AbortSignal,
): Promise<MoonshineDecoding[]> {
  const buffers = graphs.idleBuffers.pop() ?? new DecoderBuffers(graphs.dimensions)
  const decodeRows = async (rows: Row[]) => {
    const batch = await prepareBatch(graphs, rows, buffers)
    // Rows that continue together must have read the same number of tokens.
    if (rows.length === 1) await readDraft(batch, rows[0]!)
    await decodeTogether(batch, rows, signal)
  }
  try {
    const rows = segments.map((segment) => openRow(graphs, segment))
    if (rows.length > 0) await decodeRows(rows)
    for (const [i, segment] of segments.entries()) {
      const unbiasedPositions = new Set<number>()
      for (let at = rows[i]!.rewindTo; at !== undefined; at = rows[i]!.rewindTo) {
        unbiasedPositions.add(at)
        const { bias: _, ...alone } = segment.bounds
        const bounds = unbiasedPositions.size > MAX_REWINDS ? alone : segment.bounds
        const draft = rows[i]!.decoding.tokens.slice(0, at)
        rows[i] = openRow(graphs, { ...segment, bounds, draft }, unbiasedPositions)
        await decodeRows([rows[i]])
      }
    }
    return rows.map(({ decoding }) => decoding)
  } finally {
    graphs.idleBuffers.push(buffers)
  }
}

/** One segment during decoding. */
type Row = EncodedSegment & {
  decoding: MoonshineDecoding
  isOpen: boolean
  biased: BiasedText | undefined
  /** The token from which the row must be decoded again. */
  rewindTo: number | undefined
}

/** Opens the row of a segment, which has read nothing. */
function openRow(
  { dimensions }: DecoderGraphs,
  segment: EncodedSegment,
  unbiasedPositions: ReadonlySet<number> = new Set(),
): Row {
  const { states, bounds } = segment
  const frames = states.length / dimensions.hidden
  const decoding: MoonshineDecoding = {
    tokens: [],
    logProbs: [],
    attention: [],
    frames,
    stopReason: 'end',
  }
  const biased = bounds.bias && followBias(bounds.bias, unbiasedPositions)
  return { ...segment, decoding, isOpen: true, biased, rewindTo: undefined }
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
    const accepted = await verifyDraft(batch, row, draft.slice(at, at + size))
    // After the accepted tokens, the model has written one of its own.
    const written = decoding.tokens.at(-1) ?? END_TOKEN
    const isAccepted = written === draft[at + accepted]
    at = realignDraft(draft, at + accepted, written)
    size = isAccepted ? MAX_DRAFT_TOKENS : Math.max(MIN_DRAFT_TOKENS, accepted)
  } while (row.isOpen && at < draft.length)
}

/**
 * Reads the last token of the row and the drafted next ones in one call, and writes the tokens that
 * follow as long as the draft is right. Returns the number of accepted tokens.
 */
async function verifyDraft(
  batch: DecodingBatch,
  row: Row,
  drafted: readonly number[],
): Promise<number> {
  const { tokens } = row.decoding
  const outputs = await stepDecoder(batch, [[tokens.at(-1) ?? START_TOKEN, ...drafted]])
  let accepted = 0
  for (; accepted <= drafted.length; accepted++) {
    chooseToken(row, outputs, accepted)
    if (!row.isOpen || tokens.at(-1) !== drafted[accepted]) break
  }
  // Drops what was read after a wrong token.
  if (row.isOpen && tokens.length < batch.readCount) {
    batch.readCount = tokens.length
    batch.caches = truncateCache(batch.caches, batch.readCount)
  }
  return accepted
}

/** Continues all rows, one token per call for all of them, until the last has ended. */
async function decodeTogether(
  batch: DecodingBatch,
  allRows: readonly Row[],
  signal: AbortSignal,
): Promise<void> {
  let rows = allRows
  while (rows.some(isOpen)) {
    signal.throwIfAborted()
    const last = rows.map((row) => [row.decoding.tokens.at(-1) ?? START_TOKEN])
    const outputs = await stepDecoder(batch, last)
    for (const [i, row] of rows.entries()) if (row.isOpen) chooseToken(row, outputs, i)
    // Ended rows stay until half the batch has ended: moving the caches costs about a step.
    const open = rows.filter(isOpen)
    if (open.length <= rows.length / 2) {
      const openRows = rows.flatMap((row, i) => (row.isOpen ? [i] : []))
      batch.encoded = selectRows(batch.encoded, openRows)
      batch.caches = selectRows(batch.caches, openRows)
      rows = open
    }
  }
}

function isOpen(row: Row): boolean {
  return row.isOpen
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
  decoding.logProbs.push(logits[token]! - logSum(outputs, i))
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

function closeRow(row: Row, stopReason: MoonshineDecoding['stopReason']): void {
  row.decoding.stopReason = stopReason
  row.isOpen = false
}

function likeliestToken(logits: Float32Array, forbidEnd: boolean): number {
  // The first token is the one that ends the text.
  let best = englishTokens[forbidEnd ? 1 : 0]!
  for (let i = 1; i < englishTokens.length; i++) {
    const token = englishTokens[i]!
    if (logits[token]! > logits[best]!) best = token
  }
  return best
}
