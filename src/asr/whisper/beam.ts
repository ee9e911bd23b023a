import { findRepetition } from '../repetition.ts'
import {
  attentionRow,
  createBars,
  type DecodeOptions,
  type DecodeRequest,
  type Decoding,
  prefixOf,
} from './decode.ts'
import type { DecoderOutput, EncodedAudio, WhisperNetwork } from './network.ts'

/** How many texts are followed at once (as in openai/whisper and faster-whisper). */
const BEAMS = 5

/** A text that goes on, or has ended. */
type Hypothesis = Pick<Decoding, 'tokens' | 'logProbs' | 'attention'> & { score: number }

/** A hypothesis with one more token; `from` is its place among the hypotheses. */
type Extension = { from: number; token: number; logProb: number; score: number }

/**
 * Writes one text by beam search: follows the likeliest beginnings instead of the likeliest token.
 * The text with the highest mean log probability counts (openai/whisper, patience 1). Undefined when
 * no text ended within `maxTokens`, or all that did not loop.
 */
export async function decodeBeams(
  network: WhisperNetwork,
  audio: EncodedAudio,
  request: DecodeRequest,
  options: DecodeOptions,
): Promise<Decoding | undefined> {
  const { description } = network
  const { end } = description.tokens
  const prefix = prefixOf(description, request.language, options)
  const rank = createRanking(createBars(description), end)
  const ended: Hypothesis[] = []
  let open: Hypothesis[] = [{ tokens: [], logProbs: [], attention: [], score: 0 }]
  const decoder = network.decoder(audio, [request.item])
  try {
    let read = [prefix]
    while (open.length > 0 && ended.length < BEAMS) {
      options.signal.throwIfAborted()
      const output = await decoder.step(read, { attention: true, lastOnly: true })
      const extensions = open
        .flatMap((hypothesis, from) => {
          const own = output.logits.subarray(
            from * description.vocabulary,
            (from + 1) * description.vocabulary,
          )
          const best = rank(own, { count: BEAMS + 1, isFirst: hypothesis.tokens.length === 0 })
          return best.map((one) => ({ ...one, from, score: hypothesis.score + one.logProb }))
        })
        .sort((a, b) => b.score - a.score)
      const shape = { output, fed: read[0]!.length, frames: request.frames }
      const attentionOf = (from: number) => {
        return attentionOfRow(from, { ...shape, heads: description.alignmentHeads.length })
      }
      const kept: number[] = []
      const next: Hypothesis[] = []
      for (const extension of extensions) {
        if (next.length === BEAMS) break
        const hypothesis = extend(open[extension.from]!, extension, attentionOf)
        if (extension.token === end)
          ended.push({ ...hypothesis, tokens: hypothesis.tokens.slice(0, -1) })
        else if (findRepetition(hypothesis.tokens) === undefined) {
          next.push(hypothesis)
          kept.push(extension.from)
        }
      }
      if (next[0] && next[0].tokens.length >= request.maxTokens) break
      open = next
      if (open.length > 0) decoder.keep(kept)
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

function extend(
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

type Shape = { output: DecoderOutput; fed: number; heads: number; frames: number }

function attentionOfRow(row: number, { output, fed, heads, frames }: Shape): Float32Array {
  const at = { heads, fed, frames: output.frames, row, token: fed - 1 }
  return attentionRow(output.attention!, at, frames)
}

type Ranked = { token: number; logProb: number }

/** Creates the function that returns the likeliest tokens of text, with their log probabilities. */
function createRanking(bars: ReturnType<typeof createBars>, end: number) {
  return (
    logits: Float32Array,
    { count, isFirst }: { count: number; isFirst: boolean },
  ): Ranked[] => {
    const barred = isFirst ? bars.atBegin : bars.always
    const best: Ranked[] = []
    for (let token = 0; token <= end; token++) {
      const value = logits[token]!
      if (barred[token] || (best.length === count && value <= best.at(-1)!.logProb)) continue
      let place = best.length
      while (place > 0 && best[place - 1]!.logProb < value) place--
      best.splice(place, 0, { token, logProb: value })
      best.length = Math.min(best.length, count)
    }
    const most = best[0]!.logProb
    let total = 0
    for (let token = 0; token <= end; token++) {
      const below = logits[token]! - most
      if (below > -20 && !barred[token]) total += Math.exp(below)
    }
    return best.map(({ token, logProb }) => ({ token, logProb: logProb - most - Math.log(total) }))
  }
}
