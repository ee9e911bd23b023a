import type { PlanarSamples } from '../../../audio/pcm.ts'
import { VAD_FRAME } from '../../segmentation/vad-frames.ts'
import type { DetectRequest } from '../live-engine.ts'
import { type CleanFrame, LiveCrosstalk } from './live-crosstalk.ts'
import type { SampleSource } from './sample-source.ts'

/** Frames of live audio without crosstalk between its channels, read in order. */
export type CleanSamples = {
  /**
   * Returns the next frames, at most `count`, or as many as there are yet. Crosstalk is subtracted
   * with the next frame, so with several channels the latest frame has to wait for it.
   */
  read(request: DetectRequest, count: number): CleanFrame[]
  close(): void
}

/** Opens frames of a source of samples, from frame `first` on. */
export function openCleanSamples(
  source: SampleSource,
  { channels, first }: { channels: number; first: number },
): CleanSamples {
  const crosstalk = channels > 1 ? new LiveCrosstalk(channels) : undefined
  let next = first
  let isFlushed = crosstalk === undefined

  function read(request: DetectRequest, count: number): CleanFrame[] {
    const cleanFrames: CleanFrame[] = []
    const isStart = crosstalk && next === first
    const end = next + count + (isStart ? 1 : 0)
    const planes = source.read(request, { from: next * VAD_FRAME, to: end * VAD_FRAME })
    const frames = framesOf(planes, request.isEnd)
    for (const frame of frames) {
      const cleanFrame = clean(frame)
      if (cleanFrame) cleanFrames.push(cleanFrame)
    }
    if (request.isEnd && next < end && next > first && !isFlushed) {
      isFlushed = true
      cleanFrames.push(clean(planes.map(() => new Float32Array(VAD_FRAME)))!)
    }
    return cleanFrames
  }

  function clean(planes: PlanarSamples): CleanFrame | undefined {
    const frame = next++
    if (crosstalk) return crosstalk.next(frame, planes)
    return { planes, isCrosstalk: [false] }
  }

  return { read, close: () => source.close() }
}

/** Splits samples into whole frames; at the end of the audio, silence fills the last one. */
function framesOf(planes: PlanarSamples, isEnd: boolean): PlanarSamples[] {
  const length = planes[0]!.length / VAD_FRAME
  return Array.from({ length: isEnd ? Math.ceil(length) : Math.floor(length) }, (_, n) => {
    return planes.map((plane) => {
      const samples = new Float32Array(VAD_FRAME)
      samples.set(plane.subarray(n * VAD_FRAME, (n + 1) * VAD_FRAME))
      return samples
    })
  })
}
