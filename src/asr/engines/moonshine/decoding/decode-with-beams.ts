import { floatsOf } from '../../../onnx/onnx-runtime.ts'
import {
  type BeamOutput,
  type DecodedText,
  likeliestTokens,
  searchBeams,
} from '../../../recognition/decoding/beam-search.ts'
import { END_TOKEN, englishTokens, START_TOKEN } from '../tokens.ts'
import {
  attentionRow,
  type DecoderGraphs,
  logSum,
  type MoonshineDecoding,
  prepareBatch,
  stepDecoder,
} from './batch.ts'
import { DecoderBuffers, VOCABULARY } from './decoder-buffers.ts'

/** A segment to decode by beam search: `greedy` is the text of the likeliest tokens. */
export type BeamSegment = { states: Float32Array; greedy: DecodedText; maxTokens: number }

/** Decodes an encoded segment by beam search (`searchBeams`). */
export async function decodeBeams(
  graphs: DecoderGraphs,
  { states, greedy, maxTokens }: BeamSegment,
  signal: AbortSignal,
): Promise<MoonshineDecoding | undefined> {
  const buffers = graphs.idleBuffers.pop() ?? new DecoderBuffers(graphs.dimensions)
  const frames = states.length / graphs.dimensions.hidden
  try {
    const batch = await prepareBatch(graphs, [{ states }], buffers)
    const read = async (tokens: number[][]): Promise<BeamOutput> => {
      const outputs = await stepDecoder(batch, tokens)
      const width = tokens[0]!.length
      const logits = floatsOf(outputs.logits)
      return {
        rank(row, count) {
          const i = row * width + width - 1
          const all = logits.subarray(i * VOCABULARY, (i + 1) * VOCABULARY)
          return likeliestTokens(all, englishTokens, count).map((token) => {
            return { token, logProb: all[token]! - logSum(outputs, i) }
          })
        },
        attention: (row) => attentionRow(outputs.attention!, row * width + width - 1, frames),
      }
    }
    const decoder = {
      begin: (tokens: readonly number[]) => read([[START_TOKEN, ...tokens]]),
      next(tokens: readonly number[], rows: readonly number[]) {
        batch.caches = buffers.gatherRows(batch.caches, rows)
        return read(tokens.map((token) => [token]))
      },
    }
    const request = { greedy, endToken: END_TOKEN, maxTokens, signal }
    const text = await searchBeams(decoder, request)
    return text && { ...text, frames, stopReason: 'end' }
  } finally {
    graphs.idleBuffers.push(buffers)
  }
}
