import { floats, floatsOf, integers, loadModel, type Session } from '../onnx-runtime.ts'
import { CONTEXT, VAD_FRAME, WARM_UP } from './vad-frames.ts'

/** Lanes processed at once; 16 of them cost a third of running them one by one. */
const LANES = 16
/** A lane shorter than this is not worth its warm-up. */
const MIN_LANE = 96
const STATE_SIZE = 128

/** A loaded model that detects speech. */
export type VoiceDetector = {
  /**
   * Returns the probability of speech per frame of 512 samples; pads a last short frame with
   * silence.
   */
  detect(audio: Float32Array): Promise<Float32Array>
  /**
   * Opens a stream with a fresh state that takes one frame at a time; each input is `CONTEXT`
   * samples and the frame after them.
   */
  stream(): VoiceStream
  close(): Promise<void>
}

/** One pass over audio: returns the probability of speech in each further frame. */
export type VoiceStream = (input: Float32Array) => Promise<number>

/** Loads Silero VAD v6 (MIT, https://github.com/snakers4/silero-vad). */
export async function loadVoiceDetector(file: string): Promise<VoiceDetector> {
  const session = await loadModel(file)
  return {
    detect: (audio) => detectInLanes(session, audio),
    stream: () => streamFrames(session),
    close: () => session.release(),
  }
}

/**
 * The model is recurrent and tiny, so one stream leaves the processor idle. The recording is cut
 * into lanes that run in parallel in the batch dimension, each with a warm-up.
 */
async function detectInLanes(session: Session, audio: Float32Array): Promise<Float32Array> {
  const frames = Math.ceil(audio.length / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  const lanes = Math.min(LANES, Math.max(1, Math.floor(frames / MIN_LANE)))
  const own = Math.ceil(frames / lanes)
  const sampleRate = integers([16_000], [])
  let state = floats(new Float32Array(2 * lanes * STATE_SIZE), [2, lanes, STATE_SIZE])
  for (let tick = -WARM_UP; tick < own; tick++) {
    const input = new Float32Array(lanes * (CONTEXT + VAD_FRAME))
    for (let lane = 0; lane < lanes; lane++) {
      const at = (lane * own + tick) * VAD_FRAME
      const from = Math.max(0, at - CONTEXT)
      const piece = audio.subarray(from, Math.max(from, at + VAD_FRAME))
      if (piece.length > 0) input.set(piece, lane * (CONTEXT + VAD_FRAME) + from - (at - CONTEXT))
    }
    const outputs = await session.run({
      input: floats(input, [lanes, CONTEXT + VAD_FRAME]),
      state,
      sr: sampleRate,
    })
    state = outputs.stateN as typeof state
    if (tick < 0) continue
    const speech = floatsOf(outputs.output)
    for (let lane = 0; lane < lanes && lane * own + tick < frames; lane++) {
      probabilities[lane * own + tick] = speech[lane]!
    }
  }
  return probabilities
}

/** Always uses a batch of one frame: other batch sizes may change the last bits of a result. */
function streamFrames(session: Session): VoiceStream {
  const sampleRate = integers([16_000], [])
  let state = floats(new Float32Array(2 * STATE_SIZE), [2, 1, STATE_SIZE])
  return async (input) => {
    const outputs = await session.run({
      input: floats(input, [1, CONTEXT + VAD_FRAME]),
      state,
      sr: sampleRate,
    })
    state = outputs.stateN as typeof state
    return floatsOf(outputs.output)[0]!
  }
}
