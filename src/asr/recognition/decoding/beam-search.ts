import { sum } from '../../../numbers.ts'
import { findRepetition } from './repetition.ts'

/** How many texts are followed at once (as in openai/whisper and faster-whisper). */
const BEAMS = 5
/** From this log probability on, a token is certain: the search follows no other. */
const CERTAIN_TOKEN = Math.log(0.9)

/**
 * A text, with the decoder's output for each of its tokens and, if it has ended, for the end token.
 */
export type DecodedText = {
  tokens: number[]
  /** Natural logarithm of each token's probability. */
  logProbs: number[]
  /** The attention of each token, as the decoder returns it. */
  attention: Float32Array[]
}

/** A token that may come next, and the natural logarithm of its probability. */
export type RankedToken = { token: number; logProb: number }

/** The output of a decoder for the texts of a call. */
export type BeamOutput = {
  /** Returns the `count` likeliest next tokens of text `row`, the likeliest first. */
  rank(row: number, count: number): RankedToken[]
  /** Returns the attention of the next token of text `row`. */
  attention(row: number): Float32Array
}

/** A decoder that continues several texts at once. */
export type BeamDecoder = {
  /** Reads the beginning of the text. */
  begin(tokens: readonly number[]): Promise<BeamOutput>
  /** Continues each text `rows[i]` of the last call with `tokens[i]`. */
  next(tokens: readonly number[], rows: readonly number[]): Promise<BeamOutput>
}

/** The request of a search; `greedy` is the text of the likeliest tokens. */
export type BeamRequest = {
  greedy: DecodedText
  endToken: number
  maxTokens: number
  signal: AbortSignal
}

/** A text that is open or has ended; `score` is the sum of its log probabilities. */
type Hypothesis = DecodedText & { score: number }

/** A hypothesis with one more token; `from` is the index of the hypothesis. */
type Extension = RankedToken & { from: number; score: number }

/**
 * Writes a text by beam search: follows the likeliest beginnings instead of the likeliest token,
 * from where `greedy` is no longer certain. It returns the text with the highest mean log
 * probability (openai/whisper, patience 1). Returns undefined if no hypothesis ended: each reached
 * `maxTokens` or was dropped because it repeated itself.
 */
export async function searchBeams(
  decoder: BeamDecoder,
  { greedy, endToken, maxTokens, signal }: BeamRequest,
): Promise<DecodedText | undefined> {
  const ended: Hypothesis[] = []
  const beginning = certainBeginning(greedy)
  let open = [beginning]
  signal.throwIfAborted()
  let output = await decoder.begin(beginning.tokens)
  for (;;) {
    const { attention } = output
    const keptRows: number[] = []
    const next: Hypothesis[] = []
    for (const extension of rankExtensions(open, output)) {
      if (next.length === BEAMS) break
      const hypothesis = extendHypothesis(open[extension.from]!, extension, attention)
      if (extension.token === endToken)
        ended.push({ ...hypothesis, tokens: hypothesis.tokens.slice(0, -1) })
      else if (findRepetition(hypothesis.tokens) === undefined) {
        next.push(hypothesis)
        keptRows.push(extension.from)
      }
    }
    const isFull = next[0] && next[0].tokens.length >= maxTokens
    if (isFull || next.length === 0 || ended.length >= BEAMS) break
    open = next
    signal.throwIfAborted()
    output = await decoder.next(
      open.map(({ tokens }) => tokens.at(-1)!),
      keptRows,
    )
  }
  const meanOf = ({ score, logProbs }: Hypothesis) => score / logProbs.length
  const [best] = ended.sort((a, b) => meanOf(b) - meanOf(a))
  return best && { tokens: best.tokens, logProbs: best.logProbs, attention: best.attention }
}

/** Returns the text up to the first token that is not certain. */
function certainBeginning({ tokens, logProbs, attention }: DecodedText): Hypothesis {
  const first = tokens.findIndex((_, i) => logProbs[i]! < CERTAIN_TOKEN)
  const keptLength = first < 0 ? tokens.length : first
  return {
    tokens: tokens.slice(0, keptLength),
    logProbs: logProbs.slice(0, keptLength),
    attention: attention.slice(0, keptLength),
    score: sum(logProbs.slice(0, keptLength)),
  }
}

/** Returns the hypotheses with each of their likeliest next tokens, the likeliest first. */
function rankExtensions(open: readonly Hypothesis[], { rank }: BeamOutput): Extension[] {
  return open
    .flatMap((hypothesis, from) => {
      // One of the tokens may be the end token.
      return rank(from, BEAMS + 1).map((next) => {
        return { ...next, from, score: hypothesis.score + next.logProb }
      })
    })
    .sort((a, b) => b.score - a.score)
}

function extendHypothesis(
  { tokens, logProbs, attention }: Hypothesis,
  { from, token, logProb, score }: Extension,
  attentionOf: BeamOutput['attention'],
): Hypothesis {
  return {
    tokens: [...tokens, token],
    logProbs: [...logProbs, logProb],
    attention: [...attention, attentionOf(from)],
    score,
  }
}

/** Returns the `count` likeliest of some tokens, the likeliest first. */
export function likeliestTokens(
  logits: Float32Array,
  tokens: Uint32Array,
  count: number,
): number[] {
  const best: number[] = []
  let min = Number.NEGATIVE_INFINITY
  for (const token of tokens) {
    const value = logits[token]!
    if (value <= min) continue
    let place = best.length
    while (place > 0 && logits[best[place - 1]!]! < value) place--
    best.splice(place, 0, token)
    if (best.length > count) best.length = count
    if (best.length === count) min = logits[best[count - 1]!]!
  }
  return best
}
