import {
  floats,
  floatsOf,
  loadOptimizedModel,
  type OnnxSession,
  type Tensor,
} from '../onnx/onnx-runtime.ts'
import { findNoise } from './noise.ts'
import type { DetectedSpeech } from './split-segments.ts'
import { CONTEXT_SAMPLES, VAD_FRAME, WARM_UP_FRAMES } from './vad-frames.ts'

/** Frames of a recording per call of the model (8 s): with more, a call is no faster. */
const FRAMES_PER_CALL = 256
const STATE_SIZE = 128
/** Samples after a frame that the windows of the spectrum read: its last samples, mirrored. */
const MIRRORED = 64
/** Samples per frame that the model gets, in rows of `ROW`. */
const INPUT = CONTEXT_SAMPLES + VAD_FRAME + MIRRORED
const ROW = 128

/** A loaded model that detects speech. */
export type Vad = {
  /**
   * Returns the probability of speech per frame of 512 samples; pads a last short frame with
   * silence.
   */
  detect(audio: Float32Array): Promise<Float32Array>
  /** Opens a stream, with the state after silence. */
  stream(): VadStream
  close(): Promise<void>
}

/**
 * One pass over audio: returns the probability of speech in each further frame. Each input is
 * `CONTEXT_SAMPLES` samples and the frame after them. The number of frames per call changes
 * nothing, except rounding on some processors.
 */
export type VadStream = (inputs: readonly Float32Array[]) => Promise<Float32Array>

/** Loads Silero VAD v6 (MIT, https://github.com/snakers4/silero-vad), as it is installed. */
export async function loadVad(file: string): Promise<Vad> {
  const session = await loadOptimizedModel(file)
  const initialState = await settleInSilence(session)
  return {
    detect: (audio) => detect(streamFrames(session, initialState), audio),
    stream: () => streamFrames(session, initialState),
    close: () => session.release(),
  }
}

/** Detects the speech of `audio`, and the noise that may hide it. */
export async function detectSpeechAndNoise(
  detector: Pick<Vad, 'detect'>,
  audio: Float32Array,
): Promise<DetectedSpeech> {
  return { probabilities: await detector.detect(audio), noisy: findNoise(audio) }
}

async function detect(next: VadStream, audio: Float32Array): Promise<Float32Array> {
  const frames = Math.ceil(audio.length / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  for (let at = 0; at < frames; at += FRAMES_PER_CALL) {
    const to = Math.min(frames, at + FRAMES_PER_CALL)
    probabilities.set(await next(inputsOf(audio, at, to)), at)
  }
  return probabilities
}

/** The inputs of some frames; outside of the audio there is silence. */
function inputsOf(audio: Float32Array, first: number, end: number): Float32Array[] {
  return Array.from({ length: end - first }, (_, i) => {
    const start = (first + i) * VAD_FRAME - CONTEXT_SAMPLES
    const input = new Float32Array(CONTEXT_SAMPLES + VAD_FRAME)
    const from = Math.max(0, start)
    const samples = audio.subarray(from, Math.max(from, start + input.length))
    if (samples.length > 0) input.set(samples, from - start)
    return input
  })
}

/** The state of the network between two frames. */
type VadState = { hidden: Tensor; cell: Tensor }

/**
 * Returns the state after `WARM_UP_FRAMES` of silence. From a state of zeros the model misses
 * seconds of speech if the first frames are speech.
 */
async function settleInSilence(session: OnnxSession): Promise<VadState> {
  const zeros = () => floats(new Float32Array(STATE_SIZE), [1, 1, STATE_SIZE])
  const silence = inputsOf(new Float32Array(0), 0, WARM_UP_FRAMES)
  const { state } = await readFrames(session, silence, { hidden: zeros(), cell: zeros() })
  return state
}

function streamFrames(session: OnnxSession, initialState: VadState): VadStream {
  let state = initialState
  return async (inputs) => {
    const read = await readFrames(session, inputs, state)
    state = read.state
    return read.probabilities
  }
}

async function readFrames(
  session: OnnxSession,
  inputs: readonly Float32Array[],
  state: VadState,
): Promise<{ probabilities: Float32Array; state: VadState }> {
  const samples = new Float32Array(inputs.length * INPUT)
  for (const [i, input] of inputs.entries()) {
    samples.set(input, i * INPUT)
    for (let n = 0; n < MIRRORED; n++) {
      samples[i * INPUT + input.length + n] = input[input.length - 2 - n]!
    }
  }
  const frames = floats(samples, [inputs.length, INPUT / ROW, ROW])
  const outputs = await session.run({ frames, ...state })
  return {
    probabilities: floatsOf(outputs.probabilities),
    state: { hidden: outputs.next_hidden!, cell: outputs.next_cell! },
  }
}
