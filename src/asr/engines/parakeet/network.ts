import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ort from 'onnxruntime-node'
import type { Device } from '../../../config/config.ts'
import {
  floats,
  floatsOf,
  integers,
  loadModel,
  type OnnxSession,
  type Tensor,
} from '../../onnx/onnx-runtime.ts'
import type { ParakeetFeatures } from './features.ts'

/** An encoded segment: `frames` rows of `size` floats, one per 80 ms. */
export type EncodedFrames = { data: Float32Array; frames: number; size: number }

/** The immutable state of the prediction network after the tokens of one text. */
export type TextState = readonly [Float32Array, Float32Array]

/**
 * One text in progress: the encoder frame to read next, the last token, and the state before it.
 */
export type JointInput = { frame: Float32Array; token: number; state: TextState }

/** Scores of all tokens, the blank last, then of all durations; and the state after the token. */
export type JointOutput = { scores: Float32Array; state: TextState }

/** A loaded token-and-duration transducer. */
export type ParakeetNetwork = {
  /** The pieces by token; empty for those that are never printed, such as the blank. */
  readonly pieces: readonly string[]
  /** The token that stands for no token. */
  readonly blank: number
  readonly mels: number
  readonly initialState: TextState
  encode(features: ParakeetFeatures): Promise<EncodedFrames>
  /** Advances several texts by one step; they do not affect each other. */
  step(inputs: readonly JointInput[]): Promise<JointOutput[]>
  close(): Promise<void>
}

/**
 * Loads a network from a folder with `vocab.txt` or `tokens.txt`, an encoder, and either
 * `decoder_joint*.onnx` (as onnx-asr has it) or `decoder*.onnx` and `joiner*.onnx` (as sherpa-onnx
 * has it). Throws `Error` when files are missing or do not fit together.
 */
export async function loadParakeet(
  folder: string,
  { device = 'cpu' }: { device?: Device } = {},
): Promise<ParakeetNetwork> {
  const files = readdirSync(folder)
  const named = (prefix: RegExp) => {
    const modelFiles = files.filter((file) => prefix.test(file) && file.endsWith('.onnx')).sort()
    return modelFiles[0] && join(folder, modelFiles[0])
  }
  const list = files.find((file) => file === 'vocab.txt' || file === 'tokens.txt')
  const encoderFile = named(/^encoder/)
  const joinedFile = named(/^decoder_joint/)
  const decoderFile = named(/^decoder(?!_joint)/)
  const joinerFile = named(/^joiner/)
  if (!list || !encoderFile || !(joinedFile || (decoderFile && joinerFile)))
    throw new Error('a Parakeet model needs its tokens, an encoder, and a decoder with its joiner')
  const { pieces, blank } = readPieces(readFileSync(join(folder, list), 'utf8'))
  const encoder = await loadModel(encoderFile, { device })
  const joint = joinedFile
    ? joinedDecoder(await loadModel(joinedFile, { device }))
    : separateDecoder(
        await loadModel(decoderFile!, { device }),
        await loadModel(joinerFile!, { device }),
      )
  const { sizes, run, close, batches } = joint
  const zeros = () => new Float32Array(sizes.layers * sizes.hidden)
  const advance = async (inputs: readonly JointInput[]): Promise<JointOutput[]> => {
    const states = [0, 1].map((i) => stackStates(inputs, sizes, i as 0 | 1))
    const { scores, nextStates } = await run(inputs, states as [Tensor, Tensor])
    const width = scores.length / inputs.length
    if (width <= blank + 1) throw new Error('the model has no durations: it is not a TDT model')
    return inputs.map((_, row) => ({
      scores: scores.slice(row * width, (row + 1) * width),
      state: [
        pickState(nextStates[0], sizes, { row, rows: inputs.length }),
        pickState(nextStates[1], sizes, { row, rows: inputs.length }),
      ],
    }))
  }
  return {
    pieces,
    blank,
    mels: axisSize(encoder, 0, 1) ?? 128,
    initialState: [zeros(), zeros()],
    encode: (features) => encodeFeatures(encoder, features),
    async step(inputs) {
      if (batches || inputs.length === 1) return advance(inputs)
      const outputs: JointOutput[] = []
      for (const input of inputs) outputs.push(...(await advance([input])))
      return outputs
    },
    async close() {
      await Promise.all([encoder.release(), close()])
    },
  }
}

/** Parses lines of the form `piece token`; the blank is the last token. */
function readPieces(text: string): { pieces: string[]; blank: number } {
  const pieces: string[] = []
  for (const line of text.split('\n')) {
    const cut = line.lastIndexOf(' ')
    if (cut < 0) continue
    const piece = line.slice(0, cut).replace(/^ +/, '\u2581')
    pieces[Number(line.slice(cut + 1))] = /^<.*>$/.test(piece) ? '' : piece
  }
  const pieceTexts = Array.from(pieces, (piece) => piece ?? '')
  return { pieces: pieceTexts, blank: pieceTexts.length - 1 }
}

async function encodeFeatures(
  encoder: OnnxSession,
  { data, frames }: ParakeetFeatures,
): Promise<EncodedFrames> {
  const [audio = '', length = ''] = encoder.inputNames
  const [states = '', lengths = ''] = encoder.outputNames
  const outputs = await encoder.run({
    [audio]: floats(data, [1, data.length / frames, frames]),
    [length]: integers([frames], [1]),
  })
  const [, size = 0, width = 0] = outputs[states]!.dims
  const columns = floatsOf(outputs[states])
  const count = Math.min(width, Number(outputs[lengths]!.data[0]))
  const rows = new Float32Array(count * size)
  for (let t = 0; t < count; t++) {
    for (let i = 0; i < size; i++) rows[t * size + i] = columns[i * width + t]!
  }
  return { data: rows, frames: count, size }
}

type StateSizes = { layers: number; hidden: number }

/** The prediction network and the joiner, in one graph or in two. */
type Joint = {
  sizes: StateSizes
  /** Whether one call can advance several texts. */
  batches: boolean
  run(
    inputs: readonly JointInput[],
    states: [Tensor, Tensor],
  ): Promise<{ scores: Float32Array; nextStates: [Tensor, Tensor] }>
  close(): Promise<void>
}

function joinedDecoder(session: OnnxSession): Joint {
  const [frames = '', targets = '', lengths = '', ...states] = session.inputNames
  const names = session.outputNames
  return {
    ...stateShape(session, 3),
    async run(inputs, [first, second]) {
      const outputs = await session.run({
        [frames]: framesOf(inputs),
        ...targetsOf(inputs, targets, lengths),
        [states[0]!]: first,
        [states[1]!]: second,
      })
      const nextStates: [Tensor, Tensor] = [outputs[names.at(-2)!]!, outputs[names.at(-1)!]!]
      return { scores: floatsOf(outputs[names[0]!]), nextStates }
    },
    close: () => session.release(),
  }
}

function separateDecoder(decoder: OnnxSession, joiner: OnnxSession): Joint {
  const [targets = '', lengths = '', ...states] = decoder.inputNames
  const names = decoder.outputNames
  const [frames = '', texts = ''] = joiner.inputNames
  return {
    ...stateShape(decoder, 2),
    async run(inputs, [first, second]) {
      const decoded = await decoder.run({
        ...targetsOf(inputs, targets, lengths),
        [states[0]!]: first,
        [states[1]!]: second,
      })
      const outputs = await joiner.run({
        [frames]: framesOf(inputs),
        [texts]: decoded[names[0]!]!,
      })
      const nextStates: [Tensor, Tensor] = [decoded[names.at(-2)!]!, decoded[names.at(-1)!]!]
      return { scores: floatsOf(outputs[joiner.outputNames[0]!]), nextStates }
    },
    async close() {
      await Promise.all([decoder.release(), joiner.release()])
    },
  }
}

/** Reads the shape of the states, [layers, texts, hidden]. */
function stateShape(session: OnnxSession, input: number): { sizes: StateSizes; batches: boolean } {
  const [layers, hidden] = [axisSize(session, input, 0), axisSize(session, input, 2)]
  if (!layers || !hidden) throw new Error('the states of the decoder have no fixed size')
  return { sizes: { layers, hidden }, batches: axisSize(session, input, 1) === undefined }
}

/** Returns a fixed size of an input; undefined when it varies. */
function axisSize(session: OnnxSession, input: number, axis: number): number | undefined {
  const inputMetadata = session.inputMetadata[input]
  const size = inputMetadata?.isTensor ? inputMetadata.shape[axis] : undefined
  return typeof size === 'number' ? size : undefined
}

function framesOf(inputs: readonly JointInput[]): Tensor {
  const size = inputs[0]!.frame.length
  const data = new Float32Array(inputs.length * size)
  for (const [row, { frame }] of inputs.entries()) data.set(frame, row * size)
  return floats(data, [inputs.length, size, 1])
}

function targetsOf(inputs: readonly JointInput[], targets: string, lengths: string) {
  const tokens = Int32Array.from(inputs, ({ token }) => token)
  const ones = new Int32Array(inputs.length).fill(1)
  return {
    [targets]: new ort.Tensor('int32', tokens, [inputs.length, 1]),
    [lengths]: new ort.Tensor('int32', ones, [inputs.length]),
  }
}

function stackStates(
  inputs: readonly JointInput[],
  { layers, hidden }: StateSizes,
  stateIndex: 0 | 1,
): Tensor {
  const data = new Float32Array(layers * inputs.length * hidden)
  for (const [row, { state }] of inputs.entries()) {
    for (let layer = 0; layer < layers; layer++) {
      const values = state[stateIndex].subarray(layer * hidden, (layer + 1) * hidden)
      data.set(values, (layer * inputs.length + row) * hidden)
    }
  }
  return floats(data, [layers, inputs.length, hidden])
}

function pickState(
  tensor: Tensor,
  { layers, hidden }: StateSizes,
  { row, rows }: { row: number; rows: number },
): Float32Array {
  const all = floatsOf(tensor)
  const values = new Float32Array(layers * hidden)
  for (let layer = 0; layer < layers; layer++) {
    const from = (layer * rows + row) * hidden
    values.set(all.subarray(from, from + hidden), layer * hidden)
  }
  return values
}
