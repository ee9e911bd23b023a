import {
  type DecodedText,
  likeliestTokens,
  type RankedToken,
  searchBeams,
} from '../../../recognition/decoding/beam-search.ts'
import type { DecoderOutput, EncodedAudio, WhisperNetwork } from '../network.ts'
import {
  attentionRow,
  createTokenMasks,
  type DecodeOptions,
  prefixOf,
  type WhisperDecoding,
  type WhisperRequest,
} from './decode.ts'

/** A beam search: `greedy` is the text of the likeliest tokens. */
export type WhisperBeamRequest = WhisperRequest & { greedy: DecodedText }

/** Writes one text by beam search (`searchBeams`). */
export async function decodeBeams(
  network: WhisperNetwork,
  audio: EncodedAudio,
  request: WhisperBeamRequest,
  options: DecodeOptions,
): Promise<WhisperDecoding | undefined> {
  const { config } = network
  const { end } = config.tokens
  const prefix = prefixOf(config, request.language, options)
  const masks = createTokenMasks(config)
  const allowedAtBegin = allowedTokens(masks.atBegin, end)
  const allowed = allowedTokens(masks.nonText, end)
  const decoder = network.decoder(audio, [request.segmentIndex])
  const read = async (texts: number[][], isFirst: boolean) => {
    const output = await decoder.step(texts, { attention: true, lastOnly: true })
    const rank = (row: number, count: number): RankedToken[] => {
      const from = row * config.vocabulary
      const logits = output.logits.subarray(from, from + config.vocabulary)
      return rankTokens(logits, isFirst ? allowedAtBegin : allowed, count)
    }
    const shape = { output, inputTokens: texts[0]!.length, frames: request.frames }
    const heads = config.alignmentHeads.length
    return { rank, attention: (row: number) => attentionOfRow(row, { ...shape, heads }) }
  }
  const { greedy, maxTokens } = request
  try {
    const text = await searchBeams(
      {
        begin: (tokens) => read([[...prefix, ...tokens]], tokens.length === 0),
        next(tokens, rows) {
          decoder.keep(rows)
          const texts = tokens.map((token) => [token])
          return read(texts, false)
        },
      },
      { greedy, endToken: end, maxTokens, signal: options.signal },
    )
    return text && { ...text, frames: request.frames, stopReason: 'end' }
  } finally {
    decoder.close()
  }
}

/** Tokens e^-20 times as likely as the best are ignored. */
const NEGLIGIBLE = -20

/** Returns the likeliest tokens with their log probabilities among the allowed ones. */
function rankTokens(logits: Float32Array, allowed: Uint32Array, count: number): RankedToken[] {
  const best = likeliestTokens(logits, allowed, count)
  const max = logits[best[0]!]!
  let total = 0
  for (const token of allowed) {
    const below = logits[token]! - max
    if (below > NEGLIGIBLE) total += Math.exp(below)
  }
  return best.map((token) => ({ token, logProb: logits[token]! - max - Math.log(total) }))
}

type AttentionShape = { output: DecoderOutput; inputTokens: number; heads: number; frames: number }

function attentionOfRow(
  row: number,
  { output, inputTokens, heads, frames }: AttentionShape,
): Float32Array {
  const at = { heads, inputTokens, frames: output.frames, row, token: inputTokens - 1 }
  return attentionRow(output.attention!, at, frames)
}

function allowedTokens(masked: Uint8Array, end: number): Uint32Array {
  return Uint32Array.from([...Array(end + 1).keys()].filter((token) => !masked[token]))
}
