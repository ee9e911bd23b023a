import { floats, floatsOf, loadOptimizedModel, type Tensor } from '../../onnx/onnx-runtime.ts'

/** Samples between two frames of the encoder's first convolution: the width of an input row. */
export const ENCODER_ROW = 64

/** Loads an encoder (see `asr/model-files/graphs/write-moonshine-encoder.ts`). */
export async function loadEncoder(file: string) {
  const session = await loadOptimizedModel(file)
  return {
    /** See `MoonshineDecoder`. */
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
