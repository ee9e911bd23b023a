import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import { BLOCK_WEIGHTS } from '../graphs/layers.ts'
import type { WhisperSizes } from '../whisper-config.ts'
import type { WeightFile } from './weights.ts'

/** The kernel size of the convolutions, in frames. */
const KERNEL = 3

type ArrayShape = readonly number[]

/**
 * Throws `WeightFileError` unless every array that the graphs are written from is there and has the
 * size that the others ask for: a damaged file must not become a model that crashes its process.
 */
export function checkShapes(weights: WeightFile, sizes: WhisperSizes): void {
  for (const [name, expected] of expectedShapes(weights, sizes)) {
    const actualShape = weights.sizes(name)
    if (!actualShape && name.endsWith('/bias')) continue
    const isEqual =
      expected.length === actualShape?.length && expected.every((n, i) => n === actualShape[i])
    if (isEqual) continue
    if (!actualShape) throw new WeightFileError(`the file has no ${name}`)
    throw new WeightFileError(`${name} has the sizes [${actualShape}], not [${expected}]`)
  }
}

function* expectedShapes(
  weights: WeightFile,
  { hidden, encoderLayers, decoderLayers, ...sizes }: WhisperSizes,
): Generator<[name: string, shape: ArrayShape]> {
  function* linear(name: string, outputs: number, inputs: number): Generator<[string, ArrayShape]> {
    yield [`${name}/weight`, [outputs, inputs]]
    yield [`${name}/bias`, [outputs]]
  }
  function* norm(name: string): Generator<[string, ArrayShape]> {
    yield [`${name}/gamma`, [hidden]]
    yield [`${name}/beta`, [hidden]]
  }
  function* layer(name: string): Generator<[string, ArrayShape]> {
    const inner = weights.sizes(`${name}/ffn/linear_0/weight`)?.[0] ?? 0
    if (inner === 0 || inner % BLOCK_WEIGHTS !== 0) {
      throw new WeightFileError(`${name} has an inner width of ${inner}`)
    }
    yield* norm(`${name}/self_attention/layer_norm`)
    yield* linear(`${name}/self_attention/linear_0`, 3 * hidden, hidden)
    yield* linear(`${name}/self_attention/linear_1`, hidden, hidden)
    yield* norm(`${name}/ffn/layer_norm`)
    yield* linear(`${name}/ffn/linear_0`, inner, hidden)
    yield* linear(`${name}/ffn/linear_1`, hidden, inner)
  }
  yield ['encoder/conv1/weight', [hidden, sizes.mels, KERNEL]]
  yield ['encoder/conv2/weight', [hidden, hidden, KERNEL]]
  for (const conv of ['encoder/conv1', 'encoder/conv2']) yield [`${conv}/bias`, [hidden]]
  yield ['encoder/position_encodings/encodings', [sizes.audioPositions, hidden]]
  yield ['decoder/position_encodings/encodings', [sizes.textPositions, hidden]]
  yield ['decoder/embeddings/weight', [sizes.vocabulary, hidden]]
  for (const side of ['encoder', 'decoder']) yield* norm(`${side}/layer_norm`)
  for (let i = 0; i < encoderLayers; i++) yield* layer(`encoder/layer_${i}`)
  for (let i = 0; i < decoderLayers; i++) {
    const name = `decoder/layer_${i}`
    yield* layer(name)
    yield* norm(`${name}/attention/layer_norm`)
    yield* linear(`${name}/attention/linear_0`, hidden, hidden)
    yield* linear(`${name}/attention/linear_1`, 2 * hidden, hidden)
    yield* linear(`${name}/attention/linear_2`, hidden, hidden)
  }
}
