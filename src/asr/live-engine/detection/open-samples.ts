import { openDenoisedSamples } from '../denoising/denoised-samples.ts'
import type { LiveAudio } from '../live-engine.ts'
import { convertAudio } from './audio-conversion.ts'
import type { SampleSource } from './sample-source.ts'

/** Opens the samples of a session's audio, denoised if requested, starting at `from`. */
export async function openSamples(audio: LiveAudio, from: number): Promise<SampleSource> {
  if (audio.isDenoised) return openDenoisedSamples(audio, from)
  return { read: (request, range) => convertAudio({ ...audio, ...request }, range), close() {} }
}
