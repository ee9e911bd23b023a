import { bytesPerSample, type SampleEncoding } from './pcm.ts'

/** How the samples of a live session come: raw, little endian, channels interleaved (contract 5.3). */
export type AudioFormat = { encoding: SampleEncoding; sampleRate: number; channels: number }

/** Bytes of one sample of every channel. */
export function frameBytes({ encoding, channels }: AudioFormat): number {
  return bytesPerSample(encoding) * channels
}
