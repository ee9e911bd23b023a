import { type OnnxModel, readModel } from '../onnx/onnx.ts'
import { floats, loadModel } from '../onnx/onnx-runtime.ts'

/** The metadata that sherpa-onnx reads from the file; it exits if any of it is missing. */
const METADATA = [
  'sample_rate',
  'window_size',
  'receptive_field_size',
  'receptive_field_shift',
  'num_speakers',
  'powerset_max_classes',
  'num_classes',
]

/**
 * Runs a segmentation model on a window of silence. Rejects with `Error` unless it has the form of
 * pyannote segmentation-3.0, exported for sherpa-onnx: f32 [1, 1, samples] at 16 kHz to [1, frames,
 * classes].
 */
export async function checkSegmentation(path: string): Promise<void> {
  const session = await loadModel(path)
  try {
    const { inputNames, outputNames } = session
    if (inputNames.length !== 1 || outputNames.length !== 1) {
      throw new Error(
        `it has the inputs ${inputNames} and the outputs ${outputNames}; one of each is supported`,
      )
    }
    const metadata = readModelMetadata(path)
    const window = metadata.get('window_size')!
    const input = floats(new Float32Array(window), [1, 1, window])
    const outputs = await session.run({ [inputNames[0]!]: input }).catch((cause) => {
      throw new Error(`it does not take [1, 1, ${window}]`, { cause })
    })
    const dims = outputs[outputNames[0]!]?.dims ?? []
    if (dims.length !== 3 || dims[0] !== 1 || dims[2] !== metadata.get('num_classes')) {
      const expectedShape = `[1, frames, ${metadata.get('num_classes')}]`
      throw new Error(`its output has the shape [${dims}]; ${expectedShape} is supported`)
    }
  } finally {
    await session.release()
  }
}

type OnnxModelWithMetadata = OnnxModel & { metadata_props?: { key: string; value: string }[] }

function readModelMetadata(path: string): Map<string, number> {
  const { metadata_props: metadataEntries = [] }: OnnxModelWithMetadata = readModel(path)
  const numbers = new Map(metadataEntries.map(({ key, value }) => [key, Number(value)]))
  const missing = METADATA.filter((key) => !((numbers.get(key) ?? 0) > 0))
  if (missing.length > 0) {
    throw new Error(
      `it lacks the metadata ${missing.join(', ')}: take the export of the sherpa-onnx project`,
    )
  }
  if (numbers.get('sample_rate') !== 16_000) throw new Error('it does not take audio at 16 kHz')
  return numbers
}
