import { floats, floatsOf, loadOptimizedModel, type OnnxSession } from '../onnx/onnx-runtime.ts'
import { CONTEXT_SAMPLES, VAD_FRAME, WARM_UP_FRAMES } from './vad-frames.ts'

/** So many chunks of a recording start with a fresh state. */
const CHUNKS = 16
/** A shorter chunk, in frames, is not worth its lead-in. */
const MIN_CHUNK = 96
/** Frames of a recording per call of the model (8 s): with more, a call is no faster. */
const FRAMES_PER_CALL = 256
const STATE_SIZE = 128
/** Samples of a window of the spectrum that reach beyond the frame: its last ones, mirrored. */
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
  /** Opens a stream with a fresh state. */
  stream(): VadStream
  close(): Promise<void>
}

/**
 * One pass over audio: returns the probability of speech in each further frame. Each input is
 * `CONTEXT` samples and the frame after them. How many frames a call gets changes
 * nothing but rounding, on some processors.
 */
export type VadStream = (inputs: readonly Float32Array[]) => Promise<Float32Array>

/** Loads Silero VAD v6 (MIT, https://github.com/snakers4/silero-vad), as it is installed. */
export async function loadVad(file: string): Promise<Vad> {
  const session = await loadOptimizedModel(file)
  return {
    detect: (audio) => detectInChunks(session, audio),
    stream: () => streamFrames(session),
    close: () => session.release(),
  }
}

/**
 * Detects speech in chunks, each with a lead-in of `WARM_UP` frames (before the start: silence). In
 * one chunk, segments would differ by a frame here and there from those that all else was tuned
 * with (decision 0108).
 */
async function detectInChunks(session: OnnxSession, audio: Float32Array): Promise<Float32Array> {
  const frames = Math.ceil(audio.length / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  const chunks = Math.min(CHUNKS, Math.max(1, Math.floor(frames / MIN_CHUNK)))
  const length = Math.ceil(frames / chunks)
  for (let first = 0; first < frames; first += length) {
    const end = Math.min(frames, first + length)
    const next = streamFrames(session)
    await next(inputsOf(audio, first - WARM_UP_FRAMES, first))
    for (let at = first; at < end; at += FRAMES_PER_CALL) {
      const to = Math.min(end, at + FRAMES_PER_CALL)
      probabilities.set(await next(inputsOf(audio, at, to)), at)
    }
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

function streamFrames(session: OnnxSession): VadStream {
  const none = () => floats(new Float32Array(STATE_SIZE), [1, 1, STATE_SIZE])
  let [hidden, cell] = [none(), none()]
  return async (inputs) => {
    const samples = new Float32Array(inputs.length * INPUT)
    for (const [i, input] of inputs.entries()) {
      samples.set(input, i * INPUT)
      for (let n = 0; n < MIRRORED; n++) {
        samples[i * INPUT + input.length + n] = input[input.length - 2 - n]!
      }
    }
    const frames = floats(samples, [inputs.length, INPUT / ROW, ROW])
    const outputs = await session.run({ frames, hidden, cell })
    hidden = outputs.next_hidden as typeof hidden
    cell = outputs.next_cell as typeof cell
    return floatsOf(outputs.probabilities)
  }
}
