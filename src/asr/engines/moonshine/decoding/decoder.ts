import { join } from 'node:path'
import { loadOptimizedModel } from '../../../onnx/onnx-runtime.ts'
import type { MoonshineModel } from '../dimensions.ts'
import { loadEncoder } from '../encoder.ts'
import type { MoonshineDecoding } from './batch.ts'
import { decodeGreedily, type EncodedSegment } from './decode-greedily.ts'
import { type BeamSegment, decodeBeams } from './decode-with-beams.ts'

/** The loaded graphs of a model. */
export type MoonshineDecoder = {
  /**
   * Encodes `audio` (16 kHz, -1 to 1) and returns one 24 ms frame of `hidden` floats per 384
   * samples. `isNoisy` audio is encoded by the encoder for noise, where the model has one.
   */
  encode(audio: Float32Array, options: { isNoisy: boolean }): Promise<Float32Array>
  /**
   * Decodes several encoded segments at once; the segments do not affect each other. For a single
   * segment, it verifies several tokens of the draft per call and keeps those that the model would
   * have written itself: the text is the same at less cost.
   */
  decode(segments: readonly EncodedSegment[], signal: AbortSignal): Promise<MoonshineDecoding[]>
  /**
   * Decodes an encoded segment by beam search, from where its greedy decoding is no longer certain.
   * Returns undefined if no beam reaches the end of its text.
   */
  decodeBeams(segment: BeamSegment, signal: AbortSignal): Promise<MoonshineDecoding | undefined>
  close(): Promise<void>
}

/** Loads the graphs of `folder` (see `asr/model-files/graphs/write-moonshine-*.ts`). */
export async function loadMoonshine(
  folder: string,
  dimensions: MoonshineModel,
): Promise<MoonshineDecoder> {
  const encoder = await loadEncoder(join(folder, 'encoder.onnx'))
  const noiseEncoder = dimensions.noiseEncoder
    ? await loadEncoder(join(folder, 'encoder-noise.onnx'))
    : undefined
  const cross = await loadOptimizedModel(join(folder, 'cross.onnx'))
  const decoder = await loadOptimizedModel(join(folder, 'decoder.onnx'))
  const graphs = { cross, decoder, dimensions, idleBuffers: [] }
  return {
    encode: (audio, { isNoisy }) => ((isNoisy && noiseEncoder) || encoder).encode(audio),
    decode: (segments, signal) => decodeGreedily(graphs, segments, signal),
    decodeBeams: (segment, signal) => decodeBeams(graphs, segment, signal),
    async close() {
      const encoders = [encoder.close(), noiseEncoder?.close()]
      await Promise.all([...encoders, cross.release(), decoder.release()])
    },
  }
}
