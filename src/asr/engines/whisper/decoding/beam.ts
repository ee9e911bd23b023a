import { findRepetition } from '../../../recognition/repetition.ts'
import type { DecoderOutput, EncodedAudio, WhisperNetwork } from '../network.ts'
import {
  attentionRow,
  createTokenMasks,
  type DecodeOptions,
  prefixOf,
  type WhisperDecoding,
  type WhisperRequest,
} from './decode.ts'

/** How many texts are followed at once (as in openai/whisper and faster-whisper). */
const BEAMS = 5
/** A token is certain from this log probability on: others are not followed. */
const CERTAIN_TOKEN = Math.log(0.9)
/** What is e^-20 as likely as the best does not count. */
const NEGLIGIBLE = -20

/** A text that goes on, or has ended. */
type Hypothesis = Pick<WhisperDecoding, 'tokens' | 'logProbs' | 'attention'> & { score: number }

/** A hypothesis with one more token; `from` is its place among the hypotheses. */
type Extension = { from: number; token: number; logProb: number; score: number }

/** A beam search: `greedy` is the text of the likeliest tokens. */
export type BeamRequest = WhisperRequest & {
  greedy: Pick<WhisperDecoding, 'tokens' | 'logProbs' | 'attention'>
}

/**
 * Writes one text by beam search: follows the likeliest beginnings instead of the likeliest token,
 * from where `greedy` is no longer certain. The text with the highest mean log probability counts
 * (openai/whisper, patience 1). Returns undefined if no hypothesis ended: each reached `maxTokens`
 * or was dropped because it repeated itself.
 */
export async function decodeBeams(
  network: WhisperNetwork,
  audio: EncodedAudio,
  request: BeamRequest,
  options: DecodeOptions,
): Promise<WhisperDecoding | undefined> {
  const { config } = network
  const { end } = config.tokens
  const prefix = prefixOf(config, request.language, options)
  const rank = createRanking(createTokenMasks(config), end)
  const ended: Hypothesis[] = []
  const begun = certainBeginning(request.greedy)
  let open = [begun]
  const decoder = network.decoder(audio, [request.item])
  try {
    let read = [[...prefix, ...begun.tokens]]
    while (open.length > 0 && ended.length < BEAMS) {
      options.signal.throwIfAborted()
      const output = await decoder.step(read, { attention: true, lastOnly: true })
      const extensions = open
        .flatMap((hypothesis, from) => {
          const logits = output.logits.subarray(
            from * config.vocabulary,
            (from + 1) * config.vocabulary,
          )
          const best = rank(logits, { count: BEAMS + 1, isFirst: hypothesis.tokens.length === 0 })
          return best.map((extension) => ({
            ...extension,
            from,
            score: hypothesis.score + extension.logProb,
          }))
        })
        .sort((a, b) => b.score - a.score)
      const shape = { output, fed: read[0]!.length, frames: request.frames }
      const attentionOf = (from: number) => {
        return attentionOfRow(from, { ...shape, heads: config.alignmentHeads.length })
      }
      const keptRows: number[] = []
      const next: Hypothesis[] = []
      for (const extension of extensions) {
        if (next.length === BEAMS) break
        const hypothesis = extendHypothesis(open[extension.from]!, extension, attentionOf)
        if (extension.token === end)
          ended.push({ ...hypothesis, tokens: hypothesis.tokens.slice(0, -1) })
        else if (findRepetition(hypothesis.tokens) === undefined) {
          next.push(hypothesis)
          keptRows.push(extension.from)
        }
      }
      if (next[0] && next[0].tokens.length >= request.maxTokens) break
      open = next
      if (open.length > 0) decoder.keep(keptRows)
      read = open.map(({ tokens }) => [tokens.at(-1)!])
    }
  } finally {
    decoder.close()
  }
  const meanOf = ({ score, logProbs }: Hypothesis) => score / logProbs.length
  const [best] = ended.sort((a, b) => meanOf(b) - meanOf(a))
  if (!best) return undefined
  const { tokens, logProbs, attention } = best
  return { tokens, logProbs, attention, frames: request.frames, stopped: 'end' }
}

/** Returns the text up to the first token that is not certain. */
function certainBeginning({ tokens, logProbs, attention }: BeamRequest['greedy']): Hypothesis {
  const first = tokens.findIndex((_, i) => logProbs[i]! < CERTAIN_TOKEN)
  const keptLength = first < 0 ? tokens.length : first
  return {
    tokens: tokens.slice(0, keptLength),
    logProbs: logProbs.slice(0, keptLength),
    attention: attention.slice(0, keptLength),
    score: logProbs.slice(0, keptLength).reduce((sum, value) => sum + value, 0),
  }
}

function extendHypothesis(
  { tokens, logProbs, attention }: Hypothesis,
  { from, token, logProb, score }: Extension,
  attentionOf: (from: number) => Float32Array,
): Hypothesis {
  return {
    tokens: [...tokens, token],
    logProbs: [...logProbs, logProb],
    attention: [...attention, attentionOf(from)],
    score,
  }
}

type AttentionShape = { output: DecoderOutput; fed: number; heads: number; frames: number }

function attentionOfRow(row: number, { output, fed, heads, frames }: AttentionShape): Float32Array {
  const at = { heads, fed, frames: output.frames, row, token: fed - 1 }
  return attentionRow(output.attention!, at, frames)
}

type RankedToken = { token: number; logProb: number }

/** Creates the function that returns the likeliest tokens of text, with their log probabilities. */
function createRanking(masks: ReturnType<typeof createTokenMasks>, end: number) {
  const allowed = {
    atBegin: allowedTokens(masks.atBegin, end),
    nonText: allowedTokens(masks.nonText, end),
  }
  return (
    logits: Float32Array,
    { count, isFirst }: { count: number; isFirst: boolean },
  ): RankedToken[] => {
    const tokens = isFirst ? allowed.atBegin : allowed.nonText
    const best: RankedToken[] = []
    let min = Number.NEGATIVE_INFINITY
    for (const token of tokens) {
      const value = logits[token]!
      if (value <= min) continue
      let place = best.length
      while (place > 0 && best[place - 1]!.logProb < value) place--
      best.splice(place, 0, { token, logProb: value })
      if (best.length > count) best.length = count
      if (best.length === count) min = best[count - 1]!.logProb
    }
    const max = best[0]!.logProb
    let total = 0
    for (const token of tokens) {
      const below = logits[token]! - max
      if (below > NEGLIGIBLE) total += Math.exp(below)
    }
    return best.map(({ token, logProb }) => ({ token, logProb: logProb - max - Math.log(total) }))
  }
}

function allowedTokens(barred: Uint8Array, end: number): Uint32Array {
  return Uint32Array.from([...Array(end + 1).keys()].filter((token) => !barred[token]))
}
