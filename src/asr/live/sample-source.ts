import type { DetectRequest, LiveAudio } from '../live-recognizer.ts'
import { convertAudio } from './audio-conversion.ts'
import { openDenoisedSamples } from './denoised-samples.ts'

type Planes = Float32Array<ArrayBuffer>[]

/** Samples of a live sound at 16 kHz, to be read in order. */
export type SampleSource = {
  /** Samples `from` to `to` of each channel, or as many of these as there are yet; `from` is where the last piece ended. */
  read(request: DetectRequest, range: { from: number; to: number }): Planes
  close(): void
}

/** Opens the samples from `from` (of the whole sound) on. */
export async function openSamples(sound: LiveAudio, from: number): Promise<SampleSource> {
  if (sound.isEnhanced) return openDenoisedSamples(sound, from)
  return { read: (request, range) => convertAudio({ ...sound, ...request }, range), close() {} }
}
