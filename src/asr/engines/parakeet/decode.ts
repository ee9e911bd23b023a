import {
  type BiasedText,
  followBias,
  type VocabularyBias,
} from '../../recognition/decoding/vocabulary-bias.ts'
import type { EncodedFrames, ParakeetNetwork, TextState } from './network.ts'

/** More tokens than this in one frame are a loop: the decoder goes on to the next frame. */
const MAX_TOKENS_PER_FRAME = 10
/** After this many rewinds, a segment is decoded without the vocabulary. */
const MAX_REWINDS = 6

/** A token with the encoder frame where it begins, and how many frames it lasts. */
export type TimedToken = {
  token: number
  frame: number
  frames: number
  /** Natural logarithm of its probability among all tokens. */
  logProb: number
}

/** The state of decoding before a token. */
type Position = {
  frame: number
  /** Tokens written in this frame so far. */
  tokensInFrame: number
  last: number
  state: TextState
}

/**
 * A text, the position before each of its tokens, and the tokens that are likeliest without the
 * bias.
 */
type Row = Position & {
  segment: EncodedFrames
  tokens: TimedToken[]
  before: Position[]
  likeliest: number[]
  unbiasedPositions: Set<number>
  biased: BiasedText | undefined
}

/**
 * Decodes segments together, greedily: it takes the likeliest token of each frame, then skips the
 * likeliest number of frames (token-and-duration transducer, arXiv 2304.06795). `bias` prefers
 * vocabulary words; it never replaces a blank.
 */
export async function decodeSegments(
  network: Pick<ParakeetNetwork, 'blank' | 'initialState' | 'step'>,
  segments: readonly EncodedFrames[],
  { bias, signal }: { bias: VocabularyBias | undefined; signal: AbortSignal },
): Promise<TimedToken[][]> {
  const rows = segments.map((segment): Row => {
    const unbiasedPositions = new Set<number>()
    const start = { frame: 0, tokensInFrame: 0, last: network.blank, state: network.initialState }
    const biased = bias && followBias(bias, unbiasedPositions)
    return { ...start, segment, tokens: [], before: [], likeliest: [], unbiasedPositions, biased }
  })
  const isOpen = (row: Row) => {
    if (row.frame < row.segment.frames) return true
    const rewindTo = row.biased?.write('end')
    if (rewindTo === undefined || !bias) return false
    rewind(row, rewindTo, bias)
    return true
  }
  for (let open = rows.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
    signal.throwIfAborted()
    const outputs = await network.step(
      open.map(({ segment, frame, last, state }) => {
        const from = frame * segment.size
        return { frame: segment.data.subarray(from, from + segment.size), token: last, state }
      }),
    )
    for (const [i, { scores, state }] of outputs.entries())
      advanceText(open[i]!, { scores, state, blank: network.blank, bias })
  }
  return rows.map(({ tokens }) => tokens)
}

type NetworkOutput = {
  scores: Float32Array
  state: TextState
  blank: number
  bias: VocabularyBias | undefined
}

function advanceText(row: Row, { scores, state, blank, bias }: NetworkOutput): void {
  const logits = scores.subarray(0, blank + 1)
  const likely = likeliestToken(logits)
  const frames = likeliestToken(scores.subarray(blank + 1))
  const token = likely === blank ? blank : (row.biased?.choose(logits, likely) ?? likely)
  if (token !== blank) {
    const { frame, tokensInFrame, last } = row
    row.before.push({ frame, tokensInFrame, last, state: row.state })
    row.tokens.push({ token, frame, frames, logProb: logProbability(logits, token) })
    row.likeliest.push(likely)
    row.state = state
    row.last = token
    row.tokensInFrame++
    const rewindTo = row.biased?.write(token, likely)
    if (rewindTo !== undefined && bias) {
      rewind(row, rewindTo, bias)
      return
    }
  }
  if (frames > 0 || token === blank || row.tokensInFrame >= MAX_TOKENS_PER_FRAME) {
    row.frame += Math.max(1, frames)
    row.tokensInFrame = 0
  }
}

/** Rewinds to the position before a token; the bias no longer applies there. */
function rewind(row: Row, rewindTo: number, bias: VocabularyBias): void {
  Object.assign(row, row.before[rewindTo])
  for (const list of [row.before, row.tokens, row.likeliest]) list.length = rewindTo
  row.unbiasedPositions.add(rewindTo)
  if (row.unbiasedPositions.size > MAX_REWINDS) {
    row.biased = undefined
    return
  }
  row.biased = followBias(bias, row.unbiasedPositions)
  for (const [i, { token }] of row.tokens.entries()) row.biased.write(token, row.likeliest[i])
}

function likeliestToken(scores: Float32Array): number {
  let best = 0
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i
  return best
}

function logProbability(logits: Float32Array, token: number): number {
  const max = logits[likeliestToken(logits)]!
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - max)
  return logits[token]! - max - Math.log(sum)
}
