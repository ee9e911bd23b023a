import {
  floatsOf,
  integers,
  type OnnxSession,
  type Tensor,
  type Tensors,
} from '../../../onnx/onnx-runtime.ts'
import type { DecodedText } from '../../../recognition/decoding/beam-search.ts'
import type { MoonshineDimensions } from '../dimensions.ts'
import { type DecoderBuffers, emptyDecoderCaches } from './decoder-buffers.ts'
import { encoderMask, paddedWidth, rowOf, toPastInputs } from './kv-cache.ts'

/** The decoder's output for one segment of audio. */
export type MoonshineDecoding = DecodedText & {
  /** Encoder frames of the segment; each lasts 24 ms. */
  frames: number
  /**
   * Why the decoder stopped: the model ended the text, the text grew too long for the audio, or it
   * looped.
   */
  stopReason: 'end' | 'cap' | 'loop'
}

/** The loaded graphs that decode. */
export type DecoderGraphs = {
  cross: OnnxSession
  decoder: OnnxSession
  dimensions: MoonshineDimensions
  /** The buffers that no call is using. */
  idleBuffers: DecoderBuffers[]
}

/** Rows that are decoded together: the decoder has read the same number of tokens of each. */
export type DecodingBatch = {
  decoder: OnnxSession
  buffers: DecoderBuffers
  /** Frames of the longest row, padded. */
  width: number
  /** Inputs of the decoder: the audio with its mask, and the tokens read so far. */
  encoded: Tensors
  caches: Tensors
  /** Tokens of each row that the decoder has read, the start token included. */
  readCount: number
}

/** Prepares the decoding of encoded segments; of each, `states` is the output of the encoder. */
export async function prepareBatch(
  { cross, decoder, dimensions }: DecoderGraphs,
  segments: readonly { states: Float32Array }[],
  buffers: DecoderBuffers,
): Promise<DecodingBatch> {
  const frames = segments.map(({ states }) => states.length / dimensions.hidden)
  const width = paddedWidth(Math.max(...frames))
  const outputs = buffers.encoderCaches(segments.length, width)
  for (const [i, { states }] of segments.entries()) {
    const encoder_hidden_states = buffers.encoderStates(states, width)
    await cross.run({ encoder_hidden_states }, rowOf(outputs, i))
  }
  const encoded = { ...toPastInputs(outputs), encoder_mask: encoderMask(frames, width) }
  const caches = toPastInputs(emptyDecoderCaches(dimensions, segments.length))
  return { decoder, buffers, width, encoded, caches, readCount: 0 }
}

/** Reads further tokens, equally many of each row, and returns the decoder's outputs. */
export async function stepDecoder(
  batch: DecodingBatch,
  tokens: readonly (readonly number[])[],
): Promise<Tensors> {
  const { decoder, buffers, width, encoded, caches, readCount } = batch
  const size = [tokens.length, tokens[0]!.length] as const
  const outputs = buffers.decoderOutputs({ rows: size[0], tokens: size[1], past: readCount, width })
  const position = integers([readCount], [1])
  const input_ids = integers(tokens.flat(), size)
  await decoder.run({ input_ids, position, ...encoded, ...caches }, outputs)
  batch.caches = toPastInputs(outputs)
  batch.readCount += size[1]
  return outputs
}

/** Returns the attention of all heads for output `i` (row of a batch, or token of a draft). */
export function attentionRow(attention: Tensor, i: number, frames: number): Float32Array {
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

/** Returns the logarithm of the sum of the exponentials of all logits of output `i`. */
export function logSum({ largest_logit, largest_probability }: Tensors, i: number): number {
  // The last bit of ONNX Runtime's Log depends on how many values one call computes.
  return floatsOf(largest_logit)[i]! - Math.log(floatsOf(largest_probability)[i]!)
}
