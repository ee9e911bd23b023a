import {
  elementType,
  type OnnxAttribute,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  writeModel,
} from '../../../../src/asr/onnx/onnx.ts'

type Shape = readonly (string | number)[]
type Graph = {
  inputs: Record<string, Shape>
  outputs: Record<string, Shape>
  node: OnnxNode[]
  initializer?: OnnxTensor[]
  metadata?: Metadata
}
/** Metadata next to the graph, as in exports for sherpa-onnx. */
export type Metadata = Record<string, string | number>

/**
 * A fake of the telephone model: the embedding is the mean frame of the window, followed by zeros.
 */
export function writeMeanFrameModel(file: string): void {
  const [inputs, rows, taps] = [23, 128, 15]
  const weights = new Float32Array(rows * inputs * taps)
  for (let i = 0; i < inputs; i++) weights[(i * inputs + i) * taps + 7] = 1
  const axes = new Uint8Array(BigInt64Array.of(0n).buffer)
  writeGraph(file, {
    inputs: { features: [1, inputs, 'frames'], windows: ['pooled', 'windows'] },
    outputs: { embeddings: ['windows', rows] },
    node: [
      node('Conv', ['features', 'weights'], 'frames_in_the_middle'),
      node('MatMul', ['frames_in_the_middle', 'windows'], 'means'),
      node('Squeeze', ['means', 'axes'], 'columns'),
      node('Transpose', ['columns'], 'embeddings'),
    ],
    initializer: [
      tensor('weights', [rows, inputs, taps], weights),
      { name: 'axes', dims: [1], data_type: elementType.int64, raw_data: axes },
    ],
  })
}

/** A fake model for mel energies: the embedding is the mean square of each band. */
export function writeMeanSquareModel(file: string): void {
  writeGraph(file, {
    inputs: { feats: [1, 'frames', 80] },
    outputs: { embs: [1, 80] },
    node: [node('Mul', ['feats', 'feats'], 'squares'), average('squares', 'embs')],
  })
}

/**
 * As `writeMeanSquareModel`, less the mean of all bands: different voices point in different
 * directions, as with real models.
 */
export function writeBandContrastModel(file: string): void {
  writeGraph(file, {
    inputs: { feats: [1, 'frames', 80] },
    outputs: { embs: [1, 80] },
    node: [
      node('Mul', ['feats', 'feats'], 'squares'),
      average('squares', 'bands'),
      node('ReduceMean', ['bands'], 'all', [
        { name: 'axes', type: 7, ints: [1] },
        { name: 'keepdims', type: 2, i: 1 },
      ]),
      node('Sub', ['bands', 'all'], 'embs'),
    ],
  })
}

/** A fake model for mel energies: the embedding is the fiftieth frame, which must exist. */
export function writeFiftiethFrameModel(file: string): void {
  const index = new Uint8Array(BigInt64Array.of(49n).buffer)
  writeGraph(file, {
    inputs: { feats: [1, 'frames', 80] },
    outputs: { embs: [1, 80] },
    node: [node('Gather', ['feats', 'index'], 'embs', [{ name: 'axis', type: 2, i: 1 }])],
    initializer: [{ name: 'index', dims: [], data_type: elementType.int64, raw_data: index }],
  })
}

/** A model that returns one number per frame and no embedding. */
export function writeFrameModel(file: string): void {
  writeGraph(file, {
    inputs: { feats: [1, 'frames', 80] },
    outputs: { out: [1, 'frames', 80] },
    node: [node('Relu', ['feats'], 'out')],
  })
}

/** A model that requires a second input. */
export function writeTwoInputModel(file: string): void {
  writeGraph(file, {
    inputs: { feats: [1, 'frames', 80], more: [1, 'frames', 80] },
    outputs: { out: [1, 80] },
    node: [node('Mul', ['feats', 'more'], 'product'), average('product', 'out')],
  })
}

/** The metadata that the sherpa-onnx project writes into its exports of CAM++. */
export const embeddingMetadata: Metadata = {
  framework: '3d-speaker',
  language: 'English',
  url: 'none',
  comment: 'stand-in',
  sample_rate: 16_000,
  output_dim: 80,
  normalize_samples: 1,
  feature_normalize_type: '',
}

/**
 * A fake model for mel energies: the embedding is the mean energy of each band, not its logarithm.
 */
export function writeBandEnergyModel(file: string, metadata = embeddingMetadata): void {
  writeGraph(file, {
    inputs: { feats: ['N', 'frames', 80] },
    outputs: { embs: ['N', 80] },
    node: [node('Exp', ['feats'], 'energies'), average('energies', 'embs')],
    metadata,
  })
}

/** The same with the mean logarithm of each band, for which all speakers are alike. */
export function writeBandLevelModel(file: string): void {
  writeGraph(file, {
    inputs: { feats: ['N', 'frames', 80] },
    outputs: { embs: ['N', 80] },
    node: [average('feats', 'embs')],
    metadata: embeddingMetadata,
  })
}

/**
 * The metadata that the sherpa-onnx project writes into its export of pyannote segmentation-3.0.
 */
export const segmentationMetadata: Metadata = {
  sample_rate: 16_000,
  window_size: 160_000,
  receptive_field_size: 991,
  receptive_field_shift: 270,
  num_speakers: 3,
  powerset_max_classes: 2,
  num_classes: 7,
}

/**
 * A fake segmentation model: low audio is the first of three speakers, high audio the second. Low
 * audio hardly changes from sample to sample.
 */
export function writePitchModel(file: string, metadata = segmentationMetadata): void {
  const ints = (name: string, values: number[]) => ({ name, type: 7, ints: values })
  writeGraph(file, {
    inputs: { x: ['N', 1, 'samples'] },
    outputs: { y: ['N', 'frames', 7] },
    node: [
      node('Conv', ['x', 'change'], 'both'),
      node('Abs', ['both'], 'loudness'),
      node('AveragePool', ['loudness'], 'frames', [
        ints('kernel_shape', [991]),
        ints('strides', [270]),
      ]),
      node('Conv', ['frames', 'weights', 'biases'], 'classes'),
      node('Transpose', ['classes'], 'y', [ints('perm', [0, 2, 1])]),
    ],
    initializer: [
      tensor('change', [2, 1, 2], Float32Array.of(0, 1, -1, 1)),
      // Silence, low, high, and classes that never win; each of the audio and of its change.
      tensor('weights', [7, 2, 1], Float32Array.of(-1, 0, 1, -1, 0, 1, ...new Array(8).fill(0))),
      tensor('biases', [7], Float32Array.of(0.04, 0, 0, -1, -1, -1, -1)),
    ],
    metadata,
  })
}

function average(input: string, output: string): OnnxNode {
  return node('ReduceMean', [input], output, [
    { name: 'axes', type: 7, ints: [1] },
    { name: 'keepdims', type: 2, i: 0 },
  ])
}

function node(
  op_type: string,
  input: string[],
  output: string,
  attribute: OnnxAttribute[] = [],
): OnnxNode {
  return { name: output, op_type, input, output: [output], attribute }
}

function tensor(name: string, dims: number[], values: Float32Array): OnnxTensor {
  const raw_data = new Uint8Array(values.buffer)
  return { name, dims, data_type: elementType.float, raw_data }
}

function writeGraph(
  file: string,
  { inputs, outputs, node, initializer = [], metadata = {} }: Graph,
): void {
  const values = (shapes: Record<string, Shape>) => {
    return Object.entries(shapes).map(([name, shape]) => {
      const dim = shape.map((d) => (typeof d === 'string' ? { dim_param: d } : { dim_value: d }))
      return { name, type: { tensor_type: { elem_type: elementType.float, shape: { dim } } } }
    })
  }
  const metadata_props = Object.entries(metadata).map(([key, value]) => {
    return { key, value: String(value) }
  })
  const model: OnnxModel & { metadata_props: { key: string; value: string }[] } = {
    ir_version: 8,
    opset_import: [{ domain: '', version: 17 }],
    graph: {
      name: 'stand-in',
      node,
      initializer,
      input: values(inputs),
      output: values(outputs),
    },
    metadata_props,
  }
  writeModel(file, model)
}
