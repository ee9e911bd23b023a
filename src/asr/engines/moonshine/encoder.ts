import { join } from 'node:path'
import { floats, floatsOf, loadOptimizedModel, type Tensor } from '../../onnx/onnx-runtime.ts'

/** Samples between two frames of the encoder's first convolution: the width of an input row. */
export const ENCODER_ROW = 64

/**
 * Loads the encoder of a model (see `asr/model-files/graphs/write-moonshine-encoder.ts`) and, once
 * it is needed, the one for noise, if `noiseEncoder` says that the model has it.
 */
export async function loadEncoders(folder: string, noiseEncoder: boolean) {
  const clear = await loadEncoder(join(folder, 'encoder.onnx'))
  let noisy: ReturnType<typeof loadEncoder> | undefined
  return {
    /** See `MoonshineDecoder`. */
    async encode(audio: Float32Array, { isNoisy }: { isNoisy: boolean }): Promise<Float32Array> {
      if (!isNoisy || !noiseEncoder) return clear.encode(audio)
      noisy ??= loadEncoder(join(folder, 'encoder-noise.onnx'))
      return (await noisy).encode(audio)
    },
    async close() {
      await Promise.all([clear.close(), noisy?.then((encoder) => encoder.close())])
    },
  }
}

async function loadEncoder(file: string) {
  const session = await loadOptimizedModel(file)
  return {
    async encode(audio: Float32Array): Promise<Float32Array> {
      const { last_hidden_state } = await session.run({ input_values: inRows(audio) })
      return floatsOf(last_hidden_state)
    },
    close: () => session.release(),
  }
}

/** Cuts audio into rows; samples that make no further frame are left out. */
function inRows(audio: Float32Array): Tensor {
  const rows = Math.floor((audio.length + 1) / ENCODER_ROW)
  const values = new Float32Array(rows * ENCODER_ROW)
  values.set(audio.subarray(0, values.length))
  return floats(values, [rows, ENCODER_ROW])
}
