import { type AudioFormat, frameBytes } from '../../audio/audio-format.ts'
import type { SampleEncoding } from '../../audio/pcm.ts'

/** The audio parameters in `request_params` of a live session. */
export type FormatParams = {
  encoding: 'wav/pcm' | 'wav/alaw' | 'wav/ulaw'
  bit_depth: number
  sample_rate: number
  channels: number
}

const pcm: Record<number, SampleEncoding> = { 8: 'u8', 16: 's16', 24: 's24', 32: 's32' }

/** Returns the format that a session's parameters specify. */
export function formatOf({
  encoding,
  bit_depth,
  sample_rate,
  channels,
}: FormatParams): AudioFormat {
  const companded = { 'wav/alaw': 'alaw', 'wav/ulaw': 'mulaw' } as const
  const samples = encoding === 'wav/pcm' ? pcm[bit_depth]! : companded[encoding]
  return { encoding: samples, sampleRate: sample_rate, channels }
}

/** Returns the duration of audio bytes in seconds. */
export function secondsOfAudio(bytes: number, format: AudioFormat): number {
  return bytes / (frameBytes(format) * format.sampleRate)
}
