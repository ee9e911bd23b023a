import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Device } from '../../../config/config.ts'
import {
  floats,
  floatsOf,
  integers,
  loadModel,
  type OnnxSession,
  pickRows,
  type Tensor,
  type Tensors,
} from '../../onnx/onnx-runtime.ts'
import { createEncodingCache } from './encoding-cache.ts'
import type { MelFeatures } from './features.ts'
import type { WhisperConfig } from './whisper-config.ts'

/** Encoded segments of audio. It holds garbage-collected memory and needs no release. */
export type EncodedAudio = {
  /** Encoder frames (20 ms) of each segment. */
  readonly frames: readonly number[]
}

/** What a decoder step returns. */
export type DecoderOutput = {
  /** Rows × tokens × vocabulary, one after another; with `lastOnly` one token per row. */
  logits: Float32Array
  /** Tokens per row in `logits`. */
  tokens: number
  /** Rows × alignment heads × input tokens × `frames`, after softmax, if requested. */
  attention?: Float32Array
  /**
   * Encoder frames per row of `attention`: those of the longest segment; shorter segments end with
   * zeros.
   */
  frames: number
}

/** A decoding of several rows at once. Rows do not affect each other. */
export type WhisperDecoder = {
  /**
   * Reads the next tokens of every row, the same number for each, and keeps them in the cache.
   * Throws `RangeError` past the model's text positions.
   */
  step(
    tokens: readonly (readonly number[])[],
    options?: { attention?: boolean; lastOnly?: boolean },
  ): Promise<DecoderOutput>
  /** Keeps only these rows, in this order; a row may be named several times. */
  keep(rows: readonly number[]): void
  close(): void
}

/** A loaded Whisper model. A call blocks the event loop. */
export type WhisperNetwork = {
  readonly config: WhisperConfig
  /**
   * Encodes segments of at most 30 s (3000 frames). Shorter input is allowed and cheaper; the
   * models were trained with input padded to 30 s. With `keep`, the encodings stay in a cache of
   * `CACHE_BYTES` for the next call with the same features.
   */
  encode(features: readonly MelFeatures[], options?: { keep?: boolean }): Promise<EncodedAudio>
  /** Starts decoding; `items` names the segment of each row, several rows may share one. */
  decoder(audio: EncodedAudio, items: readonly number[]): WhisperDecoder
  close(): Promise<void>
}

/** Added to the attention scores of masked positions: their weights become exactly 0. */
const MASKED = -1e9
/** The size of the encoding cache: keys and values of 100 s of audio with Whisper base. */
const CACHE_BYTES = 2 ** 27

/** Loads a model that `convertWhisper` wrote. Throws `Error` when the folder holds none. */
export async function loadWhisper(
  folder: string,
  { device = 'cpu' }: { device?: Device } = {},
): Promise<WhisperNetwork> {
  const text = await readFile(join(folder, 'whisper.json'), 'utf8')
  const config = JSON.parse(text) as WhisperConfig
  if (config.version !== 1) throw new Error(`another version wrote ${folder}: convert it again`)
  const encoder = await loadModel(join(folder, 'encoder.onnx'), { signedWeights: true, device })
  const decoder = await loadModel(join(folder, 'decoder.onnx'), { device })
  const encodings = new WeakMap<EncodedAudio, readonly Tensors[]>()
  const encodingCache = createEncodingCache(CACHE_BYTES)
  return {
    config,
    async encode(features, { keep = false } = {}) {
      const segments: Tensors[] = []
      for (const spectrum of features) {
        const segment =
          encodingCache.take(spectrum) ?? (await encodeSegment(encoder, config, spectrum))
        if (keep) encodingCache.keep(spectrum, segment)
        segments.push(segment)
      }
      const audio = { frames: segments.map((segment) => segment['key.0']!.dims[2]!) }
      encodings.set(audio, segments)
      return audio
    },
    decoder(audio, items) {
      const segments = encodings.get(audio)
      if (!segments) throw new TypeError('audio was encoded by another model')
      return startDecoder(
        decoder,
        config,
        items.map((item) => segments[item]!),
      )
    },
    async close() {
      await Promise.all([encoder.release(), decoder.release()])
    },
  }
}

async function encodeSegment(
  encoder: OnnxSession,
  { mels, audioPositions }: WhisperConfig,
  { data, frames }: MelFeatures,
): Promise<Tensors> {
  if (data.length !== mels * frames) throw new RangeError(`${mels} × ${frames} values expected`)
  if (frames < 1 || frames > audioPositions * 2) {
    throw new RangeError(`a segment has 1 to ${audioPositions * 2} frames, not ${frames}`)
  }
  return await encoder.run({ features: floats(data, [1, mels, frames]) })
}

function startDecoder(
  session: OnnxSession,
  config: WhisperConfig,
  segments: readonly Tensors[],
): WhisperDecoder {
  const { heads, hidden, textPositions } = config
  const empty = floats(new Float32Array(0), [segments.length, heads, 0, hidden / heads])
  let items = segments
  let cross = stackSegments(segments, config)
  let cache: Tensors = {}
  for (const name of graphPartsOf(config)) cache[`past.${name}`] = empty
  let past = 0
  return {
    async step(tokens, { attention = false, lastOnly = false } = {}) {
      const count = tokens[0]?.length ?? 0
      if (tokens.some((row) => row.length !== count) || count === 0) {
        throw new RangeError('every row takes the same number of tokens, at least one')
      }
      if (past + count > textPositions) throw new RangeError(`only ${textPositions} tokens fit`)
      const selected = lastOnly ? [count - 1] : [...Array(count).keys()]
      const positions = Array.from({ length: count }, (_, i) => past + i)
      const outputs = await session.run({
        ...cross,
        ...cache,
        tokens: integers(tokens.flat(), [tokens.length, count]),
        positions: integers(positions, [count]),
        selected: integers(selected, [selected.length]),
        mask: causalMask(past, count),
      })
      past += count
      cache = {}
      for (const name of graphPartsOf(config)) cache[`past.${name}`] = outputs[name]!
      return {
        logits: floatsOf(outputs.logits),
        tokens: selected.length,
        ...(attention ? { attention: floatsOf(outputs.attention) } : {}),
        frames: cross.cross_mask!.dims[3]!,
      }
    },
    keep(rows) {
      if (rows.length === items.length && rows.every((row, i) => row === i)) return
      const keptItems = rows.map((row) => items[row]!)
      // Beams of one segment share its keys and values, which are many times larger than the cache:
      // reordering the beams does not copy them.
      if (keptItems.length !== items.length || keptItems.some((item, i) => item !== items[i])) {
        cross = pickRows(cross, rows)
      }
      items = keptItems
      cache = pickRows(cache, rows)
    },
    close() {
      cross = {}
      cache = {}
    },
  }
}

/** The names of a key and a value per decoder layer. */
function graphPartsOf({ decoderLayers }: WhisperConfig): string[] {
  return Array.from({ length: decoderLayers }, (_, layer) => [
    `key.${layer}`,
    `value.${layer}`,
  ]).flat()
}

/** Returns a mask with which a token attends to earlier tokens and to itself. */
function causalMask(past: number, count: number): Tensor {
  const width = past + count
  const mask = new Float32Array(count * width)
  for (let i = 0; i < count; i++) mask.fill(MASKED, i * width + past + i + 1, (i + 1) * width)
  return floats(mask, [1, 1, count, width])
}

/** Stacks the encoder's outputs of all rows into one batch; shorter segments are padded. */
function stackSegments(segments: readonly Tensors[], config: WhisperConfig): Tensors {
  const { heads, hidden } = config
  const frames = segments.map((segment) => segment['key.0']!.dims[2]!)
  const width = Math.max(...frames)
  const mask = new Float32Array(segments.length * width)
  for (const [row, length] of frames.entries())
    mask.fill(MASKED, row * width + length, (row + 1) * width)
  const stacked: Tensors = { cross_mask: floats(mask, [segments.length, 1, 1, width]) }
  const size = hidden / heads
  for (const name of graphPartsOf(config)) {
    if (segments.length === 1) {
      stacked[`cross.${name}`] = segments[0]![name]!
      continue
    }
    const data = new Float32Array(segments.length * heads * width * size)
    for (const [row, segment] of segments.entries()) {
      const values = floatsOf(segment[name])
      const length = values.length / heads
      for (let head = 0; head < heads; head++) {
        const part = values.subarray(head * length, (head + 1) * length)
        data.set(part, (row * heads + head) * width * size)
      }
    }
    stacked[`cross.${name}`] = floats(data, [segments.length, heads, width, size])
  }
  return stacked
}
