import { bytesPerSample, type SampleEncoding } from './pcm.ts'

/** The sample format of a live session: raw, little endian, channels interleaved. */
export type AudioFormat = { encoding: SampleEncoding; sampleRate: number; channels: number }

/** Returns the bytes of one sample of every channel. */
export function frameBytes({ encoding, channels }: AudioFormat): number {
  return bytesPerSample(encoding) * channels
}
