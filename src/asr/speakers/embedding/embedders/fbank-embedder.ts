import { SAMPLE_RATE } from '../../../../audio/pcm.ts'
import { floats, floatsOf, loadModel, type OnnxSession } from '../../../onnx/onnx-runtime.ts'
import { createLogMel, frameSizes, framesIn } from '../../features/log-mel.ts'
import { checkRegions, scaleToUnitLength, slidingWindows } from '../windows.ts'
import { defaultGrid, type SpeakerEmbedder, type WindowEmbedding } from './embedder.ts'

const BINS = 80
/**
 * Frames of 10 ms; with fewer, networks that halve their input three times have nothing left to
 * average. A shorter window is repeated.
 */
const MIN_FRAMES = 50

/**
 * Loads a speaker model that takes 80 Kaldi mel energies at 16 kHz, f32 [1, frames, 80], with their
 * mean over the window subtracted, and returns one embedding, f32 [1, dimension]: CAM++ and
 * ERes2Net of 3D-Speaker, ResNet and ECAPA of WeSpeaker, as ONNX. Rejects with `Error` when the
 * file is not such a model.
 */
export async function openFbankEmbedder(options: { modelPath: string }): Promise<SpeakerEmbedder> {
  const session = await loadModel(options.modelPath)
  const dimension = await probeDimension(session).catch(async (cause) => {
    await session.release()
    throw new Error(`Cannot use ${options.modelPath} as a speaker model`, { cause })
  })
  const logMel = createLogMel({ sampleRate: SAMPLE_RATE, bins: BINS, low: 20, high: 8000 })
  const { step } = frameSizes(SAMPLE_RATE)
  return {
    dimension,
    async embed(samples, regions, { signal, grids = [defaultGrid] }) {
      checkRegions(samples.length, { regions, grids })
      const embedded: WindowEmbedding[] = []
      for (const region of regions) {
        const { frames, mel } = logMel(samples.subarray(region.start, region.end))
        for (const window of grids.flatMap((grid) => slidingWindows(region, grid))) {
          signal.throwIfAborted()
          const count = framesIn(window.end - window.start, SAMPLE_RATE)
          const from = Math.min(Math.round((window.start - region.start) / step), frames - count)
          const features = mel.subarray(from * BINS, (from + count) * BINS)
          const embedding = scaleToUnitLength(await embedFrames(session, subtractMean(features)))
          embedded.push({ ...window, embedding })
        }
      }
      return embedded
    },
    close: () => session.release(),
  }
}

/** Returns the dimension, and checks that the model has the supported form. */
async function probeDimension(session: OnnxSession): Promise<number> {
  const { inputNames, outputNames } = session
  if (inputNames.length !== 1 || outputNames.length !== 1) {
    throw new Error(
      `it has the inputs ${inputNames} and the outputs ${outputNames}; one of each is supported`,
    )
  }
  const frames = Float32Array.from({ length: 100 * BINS }, (_, i) => Math.sin(i * i))
  const embedding = await embedFrames(session, frames)
  scaleToUnitLength(embedding)
  return embedding.length
}

async function embedFrames(session: OnnxSession, frames: Float32Array): Promise<Float32Array> {
  const input = floats(frames, [1, frames.length / BINS, BINS])
  const outputs = await session.run({ [session.inputNames[0]!]: input })
  const output = outputs[session.outputNames[0]!]
  if (output?.dims.length !== 2 || output.dims[0] !== 1) {
    throw new Error(`its output has the shape [${output?.dims}]; [1, dimension] is supported`)
  }
  return floatsOf(output)
}

/**
 * Returns a copy with the mean of each band subtracted, repeated up to the length that networks
 * need.
 */
function subtractMean(mel: Float32Array): Float32Array {
  const count = mel.length / BINS
  const frames = new Float32Array(Math.max(count, MIN_FRAMES) * BINS)
  for (let bin = 0; bin < BINS; bin++) {
    let sum = 0
    for (let t = 0; t < count; t++) sum += mel[t * BINS + bin]!
    for (let t = 0; t < frames.length / BINS; t++) {
      frames[t * BINS + bin] = mel[(t % count) * BINS + bin]! - sum / count
    }
  }
  return frames
}
