import { openDenoisedSamples, type SampleSource } from '../denoising/denoised-samples.ts'
import type { LiveAudio } from '../live-engine.ts'
import { convertAudio } from './audio-conversion.ts'

/** Opens the samples from `from` (counted in the whole session) on. */
export async function openSamples(audio: LiveAudio, from: number): Promise<SampleSource> {
  if (audio.isDenoised) return openDenoisedSamples(audio, from)
  return { read: (request, range) => convertAudio({ ...audio, ...request }, range), close() {} }
}
