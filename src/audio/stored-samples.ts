import type { ByteSource } from './byte-source.ts'
import type { MediaInfo } from './media.ts'
import { bytesPerSample, decodePcm, type Planes, type SampleEncoding } from './pcm.ts'

/** Where samples lie in a file and how they are stored. */
export type SampleLayout = {
  sampleRate: number
  channels: number
  encoding: SampleEncoding
  /** Bytes: first of the samples, and how many are really there. */
  start: number
  length: number
}

/** About a second of CD sound; memory stays the same for any length. */
const BLOCK_BYTES = 256 * 1024

/** Telephony files without a header hold nothing but samples: 8 kHz, one channel (RFC 3551, PCMU and PCMA). */
export function headerlessLayout(source: ByteSource, encoding: SampleEncoding): SampleLayout {
  return { sampleRate: 8000, channels: 1, encoding, start: 0, length: source.size }
}

/** Names and measures samples that are stored as they are. */
export function describeSamples(layout: SampleLayout, extension: string): MediaInfo {
  const { sampleRate, channels, encoding, length } = layout
  const frames = Math.floor(length / (channels * bytesPerSample(encoding)))
  const codec = codecNames[encoding]
  return { extension, duration: frames / sampleRate, channels, sampleRate, codec }
}

/** The names libav gives them, so that one sound has one name whoever read it. */
const codecNames: Record<SampleEncoding, string> = {
  u8: 'pcm_u8',
  s16: 'pcm_s16le',
  s24: 'pcm_s24le',
  s32: 'pcm_s32le',
  f32: 'pcm_f32le',
  f64: 'pcm_f64le',
  alaw: 'pcm_alaw',
  mulaw: 'pcm_mulaw',
}

/** Reads the samples in blocks, at their own rate. */
export function* readSamples(source: ByteSource, layout: SampleLayout): Generator<Planes> {
  const frameBytes = layout.channels * bytesPerSample(layout.encoding)
  const blockBytes = Math.floor(BLOCK_BYTES / frameBytes) * frameBytes
  const end = layout.start + layout.length
  for (let at = layout.start; at < end; at += blockBytes) {
    const bytes = source.read(at, Math.min(blockBytes, end - at))
    yield decodePcm(bytes, layout)
  }
}
