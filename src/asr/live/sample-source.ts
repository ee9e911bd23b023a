import type { DetectRequest, LiveAudio } from '../live-recognizer.ts'
import { convertAudio } from './audio-conversion.ts'
import { openDenoisedSamples } from './denoised-samples.ts'

type Planes = Float32Array<ArrayBuffer>[]

/** Samples of live audio at 16 kHz, read in order. */
export type SampleSource = {
  /**
   * Returns samples `from` to `to` of each channel, or as many as there are yet; `from` is where
   * the last read ended.
   */
  read(request: DetectRequest, range: { from: number; to: number }): Planes
  close(): void
}

/** Opens the samples from `from` (counted in the whole session) on. */
export async function openSamples(audio: LiveAudio, from: number): Promise<SampleSource> {
  if (audio.isEnhanced) return openDenoisedSamples(audio, from)
  return { read: (request, range) => convertAudio({ ...audio, ...request }, range), close() {} }
}
