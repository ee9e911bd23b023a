import type { ListenRequest, LiveSound } from '../live-ears.ts'
import { openCleanedSamples } from './cleaned-samples.ts'
import { convertSound } from './conversion.ts'

type Planes = Float32Array<ArrayBuffer>[]

/** Samples of a live sound at 16 kHz, to be read in order. */
export type SampleSource = {
  /** Samples `from` to `to` of each channel, or as many of these as there are yet; `from` is where the last piece ended. */
  read(request: ListenRequest, range: { from: number; to: number }): Planes
  close(): void
}

/** Opens the samples from `from` (of the whole sound) on. */
export async function openSamples(sound: LiveSound, from: number): Promise<SampleSource> {
  if (sound.isEnhanced) return openCleanedSamples(sound, from)
  return { read: (request, range) => convertSound({ ...sound, ...request }, range), close() {} }
}
