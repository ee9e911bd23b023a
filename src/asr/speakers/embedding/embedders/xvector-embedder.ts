import { joinSamples, SAMPLE_RATE } from '../../../../audio/pcm.ts'
import { createResampler } from '../../../../audio/resample.ts'
import { floats, floatsOf, loadModel, type OnnxSession } from '../../../onnx/onnx-runtime.ts'
import { subtractCepstralMean } from '../../features/cepstral-mean.ts'
import { frameSizes, framesIn } from '../../features/log-mel.ts'
import { CEPSTRA, mfcc, TELEPHONE_RATE } from '../../features/mfcc.ts'
import { checkRegions, scaleToUnitLength, slidingWindows } from '../windows.ts'
import {
  defaultGrid,
  type Region,
  type SpeakerEmbedder,
  type WindowEmbedding,
  type WindowGrid,
} from './embedder.ts'

/** Length of an embedding. */
const DIMENSION = 128
/** The number of frames before and after each frame that the network reads. */
const CONTEXT = 7
/**
 * Maximum number of frames in one call: 10 s, so that the layers take 20 MB and not what a long
 * region needs.
 */
const GROUP_FRAMES = 1000
/** Input samples on each side of a region that its resampling filter reaches. */
const MARGIN = 160

/**
 * Loads the x-vector model of `model/README.md`: 8 kHz telephone speech, so it uses nothing above
 * 3.7 kHz. Rejects when the file cannot be loaded.
 */
export async function openXvectorEmbedder(options: {
  modelPath: string
}): Promise<SpeakerEmbedder> {
  const session = await loadModel(options.modelPath)
  return {
    dimension: DIMENSION,
    async embed(samples, regions, { signal, grids = [defaultGrid] }) {
      checkRegions(samples.length, { regions, grids })
      const embedded: WindowEmbedding[] = []
      for (const features of extractFeatures(samples, regions)) {
        embedded.push(...(await embedRegion(session, features, { grids, signal })))
      }
      return embedded
    },
    close: () => session.release(),
  }
}

/** A region with its frames: `frames` of 23 numbers, one after the other. */
type RegionFeatures = { region: Region; frames: Float32Array }

/** Returns the frames of all regions, with their sliding mean over speech alone subtracted. */
function extractFeatures(samples: Float32Array, regions: readonly Region[]): RegionFeatures[] {
  const cepstra = regions.map((region) => mfcc(halveRate(samples, region)))
  const all = new Float32Array(cepstra.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const frames of cepstra) {
    all.set(frames, at)
    at += frames.length
  }
  subtractCepstralMean(all, CEPSTRA)
  at = 0
  return cepstra.map(({ length }, i) => {
    at += length
    return { region: regions[i]!, frames: all.subarray(at - length, at) }
  })
}

/** Returns the region at 8 kHz; the filter uses the audio on each side of it. */
function halveRate(samples: Float32Array, { start, end }: Region): Float32Array {
  const from = Math.max(0, start - MARGIN)
  const resampler = createResampler(SAMPLE_RATE, TELEPHONE_RATE)
  const head = resampler.write(samples.subarray(from, Math.min(samples.length, end + MARGIN)))
  const halved = joinSamples(head, resampler.flush())
  return halved.subarray((start - from) >> 1, (end - from) >> 1)
}

type FrameSpan = { from: number; to: number }

async function embedRegion(
  session: OnnxSession,
  { region, frames }: RegionFeatures,
  { grids, signal }: { grids: readonly WindowGrid[]; signal: AbortSignal },
): Promise<WindowEmbedding[]> {
  const windows = grids.flatMap((grid) => slidingWindows(region, grid))
  const count = frames.length / CEPSTRA
  const spans = windows.map((window) => spanOf(window, region, count))
  const embedded: WindowEmbedding[] = []
  for (const group of groupSpans(spans)) {
    signal.throwIfAborted()
    const embeddings = await embedGroup(
      session,
      frames,
      group.map((i) => spans[i]!),
    )
    for (const [nth, i] of group.entries()) {
      const embedding = embeddings.slice(nth * DIMENSION, (nth + 1) * DIMENSION)
      embedded[i] = { ...windows[i]!, embedding: scaleToUnitLength(embedding) }
    }
  }
  return embedded
}

/** Returns the frames that lie in a window, at least one. */
function spanOf(window: Region, region: Region, count: number): FrameSpan {
  const { step } = frameSizes(SAMPLE_RATE)
  const frames = Math.max(1, framesIn(window.end - window.start, SAMPLE_RATE))
  const from = Math.min(Math.round((window.start - region.start) / step), count - frames)
  return { from, to: from + frames }
}

/**
 * Groups spans, by their index in the list, that are embedded in one call: sorted by start, up to
 * 10 s together.
 */
function groupSpans(spans: readonly FrameSpan[]): number[][] {
  const order = spans.map((_, i) => i).sort((a, b) => spans[a]!.from - spans[b]!.from)
  const groups: number[][] = []
  let start = Number.NEGATIVE_INFINITY
  for (const i of order) {
    if (spans[i]!.to - start > GROUP_FRAMES) {
      groups.push([])
      start = spans[i]!.from
    }
    groups.at(-1)!.push(i)
  }
  return groups
}

/**
 * Runs the layers once over the group; beyond the ends of the region its first and last frame
 * repeat.
 */
async function embedGroup(
  session: OnnxSession,
  frames: Float32Array,
  spans: readonly FrameSpan[],
): Promise<Float32Array> {
  const from = spans[0]!.from
  const length = Math.max(...spans.map(({ to }) => to)) - from
  const last = frames.length / CEPSTRA - 1
  const frameCount = length + 2 * CONTEXT
  const features = new Float32Array(CEPSTRA * frameCount)
  for (let t = 0; t < frameCount; t++) {
    const frame = Math.min(Math.max(from + t - CONTEXT, 0), last) * CEPSTRA
    for (let d = 0; d < CEPSTRA; d++) features[d * frameCount + t] = frames[frame + d]!
  }
  const shares = new Float32Array(length * spans.length)
  for (const [column, span] of spans.entries()) {
    for (let t = span.from; t < span.to; t++) {
      shares[(t - from) * spans.length + column] = 1 / (span.to - span.from)
    }
  }
  const { embeddings } = await session.run({
    features: floats(features, [1, CEPSTRA, frameCount]),
    windows: floats(shares, [length, spans.length]),
  })
  return floatsOf(embeddings)
}
